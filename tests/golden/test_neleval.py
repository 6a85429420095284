"""neleval's measures, worked by hand."""

from __future__ import annotations

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run, UsageError
from karat.model.errors import InputError, UnknownNameError
from tests.conftest import with_settings

TEXT = "x" * 60


def scores(labels, predictions, measure, **options):
    """P, R and F1 of one measure on one document."""
    corpus = Corpus.from_documents([Document("d", TEXT, tuple(labels))])
    run = Run.from_responses([Response("d", tuple(predictions))])
    result = karat.evaluate(corpus, run, profile="neleval", measures=[measure], **with_settings(options))
    return tuple(result[f"{measure}:micro.{short}"] for short in ("p", "r", "f1"))


GOLD = (
    Label(0, 3, "Q1", types=("PER",)),
    Label(5, 8, "Q2", types=("LOC",)),
    Label(10, 13, None, types=("PER",), nil_cluster="NIL1"),
    Label(15, 18, None, types=("ORG",), nil_cluster="NIL1"),
)
PREDICTIONS = (
    Prediction(0, 3, "Q1", types=("PER",)),  # all right
    Prediction(5, 8, "Q3", types=("LOC",)),  # another entity
    Prediction(10, 13, None, types=("LOC",), nil_cluster="X"),  # another type
    Prediction(20, 23, "Q1", types=("PER",)),  # nothing there
)


@pytest.mark.parametrize(
    ("measure", "tp", "predictions", "gold"),
    [
        ("strong_mention_match", 3, 4, 4),
        ("strong_typed_mention_match", 2, 4, 4),
        ("strong_linked_mention_match", 2, 3, 2),
        ("strong_link_match", 1, 3, 2),
        ("strong_nil_match", 1, 1, 2),
        ("strong_all_match", 2, 4, 4),
        ("strong_typed_link_match", 1, 3, 2),
        ("strong_typed_nil_match", 0, 1, 2),
        ("strong_typed_all_match", 1, 4, 4),
        ("entity_match", 1, 2, 2),  # the document has Q1 and Q2, the predictions name Q1 and Q3
    ],
)
def test_sets(measure, tp, predictions, gold):
    p, r = tp / predictions, tp / gold
    assert scores(GOLD, PREDICTIONS, measure) == pytest.approx((p, r, 2 * p * r / (p + r) if tp else 0))


def test_what_occurs_twice_counts_once():
    twice = [Prediction(0, 3, "Q1"), Prediction(0, 3, "Q1"), Prediction(0, 3, "Q9")]
    assert scores(GOLD[:1], twice, "strong_mention_match") == (1, 1, 1)
    assert scores(GOLD[:1], twice, "strong_link_match")[0] == 1 / 2


def test_a_triple_is_the_measure_of_that_name():
    assert scores(GOLD, PREDICTIONS, "sets:is_linked:span+kbid") == scores(GOLD, PREDICTIONS, "strong_link_match")
    assert scores(GOLD, PREDICTIONS, "sets:is_linked+is_first:span")[0] == 2 / 2  # Q1 at 20 is not the first Q1


def test_nothing_at_all_is_zero():
    assert scores((), (), "strong_mention_match") == (0, 0, 0)


def test_the_eleven_against_twelve_of_the_field():
    """11 gold mentions, 12 predictions, 7 of them right in span and type: neleval says 7/12 and 7/11, GERBIL 7/16
    twice."""
    labels = [Label(4 * i, 4 * i + 3, types=("PER",)) for i in range(11)]
    predictions = [Prediction(4 * i, 4 * i + 3, types=("PER",)) for i in range(7)]
    predictions += [Prediction(4 * i, 4 * i + 2, types=("PER",)) for i in range(7, 11)] + [
        Prediction(50, 52, types=("PER",))
    ]
    p, r = 7 / 12, 7 / 11
    assert scores(labels, predictions, "strong_typed_mention_match") == pytest.approx((p, r, 2 * p * r / (p + r)))
    corpus, run = (
        Corpus.from_documents([Document("d", TEXT, tuple(labels))]),
        Run.from_responses([Response("d", tuple(predictions))]),
    )
    theirs = karat.evaluate(
        corpus,
        run,
        profile="gerbil",
        settings={"task": "rt2kb", "match": "strong", "nil": "explicit", "prefixes": "none"},
    )
    assert (theirs["typed:micro.p"], theirs["typed:micro.r"]) == pytest.approx((7 / 16, 7 / 16))


def test_shares_of_characters():
    """Gold [0, 10) and [20, 30); predictions cover 4 and 3 of the first, the second not; one prediction lies outside
    by 2."""
    labels = [Label(0, 10, "Q1"), Label(20, 30, "Q2")]
    predictions = [Prediction(0, 4, "Q1"), Prediction(7, 12, "Q1"), Prediction(40, 44, "Q2")]
    p = (1 + 3 / 5 + 0) / 3
    assert scores(labels, predictions, "overlap-maxmax::span+kbid")[:2] == pytest.approx((p, (4 / 10 + 0) / 2))
    assert scores(labels, predictions, "overlap-summax::span+kbid")[:2] == pytest.approx((p, (7 / 10 + 0) / 2))


def test_filters_reach_the_denominators_of_shares():
    labels, predictions = [Label(0, 3, "Q1"), Label(5, 8, None)], [Prediction(0, 3, "Q1"), Prediction(10, 13, None)]
    assert scores(labels, predictions, "overlap-maxmax:is_linked:span+kbid") == (1, 1, 1)


def test_clusters_reach_across_documents():
    """Gold {1, 2} {3}; predictions {1} {2, 3}: B-cubed P = (1 + 1/2 + 1/2) / 3, R = (1/2 + 1/2 + 1) / 3."""
    corpus = Corpus.from_documents(
        [Document("a", TEXT, (Label(0, 3, "Q1"),)), Document("b", TEXT, (Label(0, 3, "Q1"), Label(5, 8, "Q2")))]
    )
    run = Run.from_responses(
        [Response("a", (Prediction(0, 3, "Q1"),)), Response("b", (Prediction(0, 3, "Q2"), Prediction(5, 8, "Q2")))]
    )
    result = karat.evaluate(
        corpus, run, measures=["b-cubed:micro.f1", "muc:micro.f1", "b_cubed_plus", "blanc:micro.f1"]
    )
    assert result["b-cubed:micro.p"] == pytest.approx(2 / 3)
    assert result["b-cubed:micro.r"] == pytest.approx(2 / 3)
    assert result["muc:micro.f1"] == 0  # no link of a cluster is found
    # With the entity in the key: (a 0-3, Q1) and (b 5-8, Q2) are common, each the only common one of its cluster.
    assert result["b_cubed_plus:micro.p"] == pytest.approx((1 + 1 / 2) / 3)
    assert result["b_cubed_plus:micro.r"] == pytest.approx((1 / 2 + 1) / 3)
    # pairwise: 0 of 1; apart: gold (1,3) (2,3), predictions (1,2) (1,3): one of two
    assert result["blanc:micro.f1"] == pytest.approx((0 + 1 / 2) / 2)
    assert result["b-cubed:macro.f1"] is None


def test_nil_clusters():
    labels = [Label(0, 3, None, nil_cluster="a"), Label(5, 8, None, nil_cluster="a"), Label(10, 13, None)]
    predictions = [
        Prediction(0, 3, None, nil_cluster="z"),
        Prediction(5, 8, None, nil_cluster="z"),
        Prediction(10, 13, None),
    ]
    corpus, run = (
        Corpus.from_documents([Document("d", TEXT, tuple(labels))]),
        Run.from_responses([Response("d", tuple(predictions))]),
    )
    assert karat.evaluate(corpus, run, measures=["b-cubed[nil]:micro.f1"])["b-cubed[nil]:micro.f1"] == 1
    split = Run.from_responses([Response("d", tuple(Prediction(a.start, a.end, None) for a in predictions))])
    assert karat.evaluate(corpus, split, measures=["b-cubed[nil]:micro.r"])["b-cubed[nil]:micro.r"] == pytest.approx(
        2 / 3
    )


def test_sets_of_measures():
    result = karat.evaluate(
        Corpus.from_documents([Document("d", TEXT, GOLD)]),
        Run.from_responses([Response("d", PREDICTIONS)]),
        profile="neleval",
        measures=["tac09"],
    )
    assert result.table_measures == tuple(
        f"{name}:micro.{short}"
        for name in ("strong_link_match", "strong_nil_match", "strong_all_match")
        for short in ("p", "r", "f1")
    )
    assert karat.evaluate(
        Corpus.from_documents([Document("d", TEXT, GOLD)]),
        Run.from_responses([Response("d", PREDICTIONS)]),
        profile="neleval",
    ).table_measures


@pytest.mark.parametrize(
    ("measure", "error", "said"),
    [
        ("set::span", UnknownNameError, "sets"),
        ("sets:is_link:span", UnknownNameError, "is_linked"),
        ("sets::spam", UnknownNameError, "span"),
    ],
)
def test_keys_that_make_no_sense(measure, error, said):
    with pytest.raises(error, match=said):
        scores(GOLD, PREDICTIONS, measure)


def test_clusters_have_no_curve():
    with pytest.raises(UsageError, match="curve"):
        karat.threshold_curve(
            Corpus.from_documents([Document("d", TEXT, GOLD)]),
            Run.from_responses([Response("d", PREDICTIONS)]),
            settings={"match": "b-cubed"},
        )


# --- corners


def test_an_prediction_of_another_type_or_nil_cluster_is_another_prediction():
    """The same span and id twice, first with the wrong type, then with the right one: neleval has both in its set."""
    labels = [
        Label(0, 3, "Q1", types=("PER",)),
        Label(5, 8, None, nil_cluster="a"),
        Label(10, 13, None, nil_cluster="a"),
    ]
    twice = [
        Prediction(0, 3, "Q1", types=("LOC",)),
        Prediction(0, 3, "Q1", types=("PER",)),
        Prediction(0, 3, "Q1", types=("PER",)),
    ]
    assert scores(labels[:1], twice, "strong_typed_link_match")[:2] == (1 / 2, 1)
    assert scores(labels[:1], twice, "strong_link_match")[:2] == (1, 1)
    nils = [
        Prediction(5, 8, None, nil_cluster="b"),
        Prediction(5, 8, None, nil_cluster="c"),
        Prediction(10, 13, None, nil_cluster="c"),
    ]
    # 5-8 is with itself (b) and with 10-13 (c): pairs of the predictions are {5-8, 10-13}, as in gold.
    assert scores(labels[1:], nils, "pairwise") == (1, 1, 1)
    result = karat.evaluate(
        Corpus.from_documents([Document("d", TEXT, (labels[0],))]),
        Run.from_responses([Response("d", tuple(twice))]),
        profile="neleval",
        measures=["strong_typed_link_match"],
    )
    assert result.skipped["duplicate predictions (one counts)"] == 1


def test_gold_of_another_type_is_another_label():
    labels = [Label(0, 3, "Q1", types=("PER",)), Label(0, 3, "Q1", types=("LOC",), mention_id="2")]
    assert scores(labels, [Prediction(0, 3, "Q1", types=("LOC",))], "strong_typed_link_match")[:2] == (1, 1 / 2)


def test_a_span_without_id_is_neither_linked_nor_nil(tmp_path):
    """Gold: Q1, a NIL, and a line of three columns; the predictions are the same."""
    path = tmp_path / "gold.tab"
    path.write_text("d\t0\t2\tQ1\nd\t5\t7\tNIL1\nd\t10\t12\n")
    corpus, run = karat.load(path), karat.load_run(path)
    result = karat.evaluate(corpus, run, profile="neleval", measures=["all-tagging"])
    found = {name: result.counts(name).matched_gold for name in ("strong_mention_match", "strong_all_match")}
    assert found == {"strong_mention_match": 3, "strong_all_match": 3}
    for name in ("strong_linked_mention_match", "strong_link_match", "strong_nil_match", "entity_match"):
        assert result.counts(name).matched_gold == 1, name


def test_documents_that_only_the_system_has(tmp_path):
    """neleval says P = 1/2 overall; by document it looks at those of the gold standard alone, where P is 1."""
    (tmp_path / "gold.tab").write_text("a\t0\t2\tQ1\n")
    (tmp_path / "run.tab").write_text("a\t0\t2\tQ1\t0.9\nb\t0\t2\tQ1\t0.9\n")
    corpus, run = karat.load(tmp_path / "gold.tab"), karat.load_run(tmp_path / "run.tab")
    names = ["strong_link_match:micro.p", "strong_link_match:micro.r", "strong_link_match:macro.p", "b_cubed:micro.p"]
    result = karat.evaluate(corpus, run, profile="neleval", measures=names)
    # B-cubed: the predictions' one cluster holds a and b; a is half of it, and b has no twin in gold: (1/2 + 0) / 2.
    assert [result[name] for name in names] == [1 / 2, 1, 1, 1 / 4]
    assert (
        result.skipped["gold: documents that occur only in the predictions (scored as documents without labels)"] == 1
    )
    assert result.signature["data"] == f"gold@{corpus.digest}"
    excluded = karat.evaluate(corpus, run, profile="neleval", measures=names, allow_unknown=True)
    assert [excluded[name] for name in names] == [1, 1, 1, 1]
    with pytest.raises(InputError, match="document 'b', which gold does not have"):
        karat.evaluate(corpus, run)


def test_a_key_without_document_compares_the_whole_corpus():
    """Gold names Q1 in a and b, and Q2 in b; the predictions name Q1 in b, Q3 in a: one of two ids on each side."""
    corpus = Corpus.from_documents(
        [Document("a", TEXT, (Label(0, 3, "Q1"),)), Document("b", TEXT, (Label(0, 3, "Q1"), Label(5, 8, "Q2")))]
    )
    run = Run.from_responses(
        [Response("a", (Prediction(0, 3, "Q3"), Prediction(5, 8, None))), Response("b", (Prediction(20, 23, "Q1"),))]
    )
    result = karat.evaluate(corpus, run, profile="neleval", measures=["sets:is_linked:kbid", "sets::kbid"])
    assert [result[f"sets:is_linked:kbid:micro.{short}"] for short in ("p", "r", "f1")] == [1 / 2] * 3
    assert result["sets::kbid:micro.p"] == 1 / 3  # NIL is one key more
    assert result["sets:is_linked:kbid:macro.f1"] is None
    with pytest.raises(UsageError, match="curve"):
        karat.threshold_curve(corpus, run, settings={"match": "sets:is_linked:kbid"})


def tab_scores(tmp_path, gold, predictions, *measures, **options):
    """P, R and F1 of each measure on files in neleval's format, given as their lines."""
    for name, lines in (("gold", gold), ("run", predictions)):
        (tmp_path / f"{name}.tab").write_text("".join(f"{line}\n" for line in lines).replace(" ", "\t"))
    corpus = karat.load(tmp_path / "gold.tab", format="neleval")
    run = karat.load_run(tmp_path / "run.tab", format="neleval")
    result = karat.evaluate(corpus, run, profile="neleval", measures=list(measures), **with_settings(options))
    rows = [tuple(result[f"{name}:micro.{short}"] for short in ("p", "r", "f1")) for name in measures]
    return rows[0] if len(rows) == 1 else rows


SHARES = tuple(f"overlap-{a}{b}::span" for a in ("max", "sum") for b in ("max", "sum"))


@pytest.mark.parametrize(
    ("gold", "predictions", "p", "r_max", "r_sum"),
    [
        # A line of the system twice: neleval covers one of the two. Karat counted one line before, P 1.
        (["d 0 2 Q1"], ["d 0 2 Q1"] * 2, 1 / 2, 1, 1),
        # A line of the gold standard twice: both are covered.
        (["d 0 2 Q1"] * 2, ["d 0 2 Q1"], 1, 1, 1),
        (["d 0 2 Q1"] * 2, ["d 0 2 Q1"] * 2, 1 / 2, 1, 1),
        # Two ids on one span are two annotations.
        (["d 0 2 Q1"], ["d 0 2 Q1", "d 0 2 Q2"], 1 / 2, 1, 1),
        # Without overlaps on a side, all that overlaps is compared: 0-5 with 0-2 and 4-5.
        (["d 0 5 Q1"], ["d 0 2 Q1", "d 4 5 Q1"], 1, 1 / 2, 5 / 6),
        # 0-8 has 0-5 and then 4-5 after it in the order of starts: 4-5 is compared with 0-5, not with 0-8.
        (["d 0 8 Q1", "d 0 5 Q1"], ["d 4 5 Q1"], 1, (0 + 1 / 3) / 2, (0 + 1 / 3) / 2),
    ],
)
def test_lines_twice_and_several_ids_in_shares_of_characters(tmp_path, gold, predictions, p, r_max, r_sum):
    """The figures are those that neleval 3.1.1 prints."""
    rows = [row[:2] for row in tab_scores(tmp_path, gold, predictions, *SHARES)]
    assert rows == [pytest.approx((p, r)) for r in (r_max, r_max, r_sum, r_sum)]


def test_several_ids_on_one_span_in_clusterings(tmp_path):
    """Gold {1, 2} and {3}; the system has 1 as Q1 and as Q2, 2 as Q1 and 3 as Q2. neleval takes 1 for a Q2, since that
    id is the last to occur. Karat's own measures take it for both."""
    gold = ["d 0 2 Q1", "d 4 6 Q1", "d 8 10 Q2"]
    predictions = ["d 0 2 Q1", "d 0 2 Q2", "d 4 6 Q1", "d 8 10 Q2"]
    muc, b_cubed, pairs = tab_scores(tmp_path, gold, predictions, "muc", "b_cubed", "pairwise")
    # Gold's cluster {1, 2} falls into {1} and {2}; the system's Q1 = {1, 2} is whole, its Q2 = {1, 3} is not.
    assert muc == (1 / 2, 0, 0)
    # P: 1 in Q2 {1, 3} shares {1} with {1, 2}: 1/2; 2 in {1, 2}: 2/2; 3: 1/2. R: 1/2, 2/2, 1/1.
    assert b_cubed[:2] == pytest.approx((2 / 3, 5 / 6))
    assert pairs[:2] == (1 / 2, 1)
    ours = tab_scores(tmp_path, gold, predictions, "muc", "b_cubed", clusters="all")
    assert ours[0][:2] == (1 / 2, 1)
    # P: 1 with {1, 2, 3} shares {1, 2}: 2/3; R: all of its cluster.
    assert ours[1][:2] == pytest.approx(((2 / 3 + 1 + 1 / 2) / 3, 1))


def test_more_shared_pairs_than_predicted_pairs_are_kept_in_a_result_file():
    """Spans 1 and 2 are Q1 and Q2 in gold and Q1 in the run. The pair is shared with both gold clusters: 2 of 1."""
    labels = [Label(start, start + 2, entity) for start in (0, 4) for entity in ("Q1", "Q2")]
    corpus = Corpus.from_documents([Document("d", TEXT, tuple(labels))])
    run = Run.from_responses([Response("d", (Prediction(0, 2, "Q1"), Prediction(4, 6, "Q1")))])
    result = karat.evaluate(corpus, run, profile="neleval", measures=["pairwise"])
    assert result["pairwise:micro.p"] == 2
    again = karat.Result.from_json(result.to_json())
    assert again.counts("pairwise") == result.counts("pairwise")
    assert again.counts("pairwise").unmatched_predictions == -1


def test_lines_without_id_are_one_cluster(tmp_path):
    """Gold has three spans without id, the system two of them and one as Q1."""
    gold = ["d 0 2", "d 4 6", "e 0 2"]
    predictions = ["d 0 2", "d 4 6", "e 0 2 Q1"]
    muc, b_cubed, ceaf = tab_scores(tmp_path, gold, predictions, "muc", "b_cubed", "mention_ceaf")
    assert muc[:2] == (1, 1 / 2)
    assert b_cubed[:2] == pytest.approx((1, (2 / 3 + 2 / 3 + 1 / 3) / 3))
    assert ceaf[:2] == pytest.approx((2 / 3, 2 / 3))
    apart = tab_scores(tmp_path, gold, predictions, "b_cubed", clusters="all")
    assert apart == (1, 1, 1)  # each is alone
    # neleval looks up a mention that the system lacks (d 4-6) among its spans without id: one of two is there.
    assert tab_scores(tmp_path, gold[:2], predictions[:1], "b_cubed")[:2] == (1, 1 / 2 * (1 / 2 + 1 / 2))


def test_of_several_candidates_in_gold_the_best_counts(tmp_path):
    """A line of gold with Q1 and, less likely, Q2: neleval compares Q1 alone. Karat had two mentions, R 1/2."""
    gold = ["d 0 2 Q2 0.5 PER Q1 0.9 PER"]
    assert tab_scores(tmp_path, gold, ["d 0 2 Q1"], "strong_link_match") == (1, 1, 1)
    assert tab_scores(tmp_path, gold, ["d 0 2 Q2"], "strong_link_match") == (0, 0, 0)
    corpus, run = karat.load(tmp_path / "gold.tab"), karat.load_run(tmp_path / "run.tab", format="neleval")
    result = karat.evaluate(corpus, run, profile="neleval", measures=["strong_link_match"])
    assert result.skipped["further alternatives of mentions (only the first counts)"] == 1
    # The same id as a line of its own still counts, though it repeats the dropped candidate.
    assert tab_scores(tmp_path, [*gold, "d 0 2 Q2"], ["d 0 2 Q1"], "strong_link_match")[:2] == (1, 1 / 2)


def test_the_first_mention_of_an_entity_is_the_longer_of_two(tmp_path):
    gold = ["d 0 2 Q1", "d 0 5 Q1"]
    assert tab_scores(tmp_path, gold, ["d 0 5 Q1"], "sets:is_first:span") == (1, 1, 1)


@pytest.mark.parametrize("profile", ["karat", "neleval"])
@pytest.mark.parametrize(
    ("gold", "predictions", "expected"),
    [("x", "x", 1), ("x", "y", 0), ("x", "", 0), ("", "x", 0)],
)
def test_blanc_without_pairs_compares_mentions(profile, gold, predictions, expected):
    """One mention on a side has no pairs: BLANC is 1 if both sides have the same mentions (Luo et al., 2014)."""
    places = {"x": 0, "y": 5}
    labels = tuple(Label(places[name], places[name] + 3, "A") for name in gold)
    responses = tuple(Prediction(places[name], places[name] + 3, "B") for name in predictions)
    corpus = Corpus.from_documents([Document("d", TEXT, labels)])
    run = Run.from_responses([Response("d", responses)])
    names = [f"blanc:micro.{short}" for short in ("p", "r", "f1")]
    result = karat.evaluate(corpus, run, profile=profile, measures=names, resamples=20)
    assert [result[name] for name in names] == [expected] * 3
    assert not result.intervals


def test_blanc_of_nothing_is_undefined_with_a_reason():
    corpus, run = Corpus.from_documents([Document("d", TEXT)]), Run.from_responses([Response("d")])
    result = karat.evaluate(corpus, run, measures=["blanc:micro.f1"])
    assert result["blanc:micro.f1"] is None
    assert "pairwise" in result.score("blanc:micro.f1").reason


@pytest.mark.parametrize("profile", ["karat", "neleval"])
def test_blanc_leaves_out_what_neither_side_has(profile):
    """All alone: no pair is together. All in one: no pair is apart. Either way the other half is all there is."""

    def blanc(gold, predictions):
        labels = tuple(Label(5 * i, 5 * i + 3, entity) for i, entity in enumerate(gold))
        responses = tuple(Prediction(5 * i, 5 * i + 3, entity) for i, entity in enumerate(predictions))
        corpus, run = (
            Corpus.from_documents([Document("d", TEXT, labels)]),
            Run.from_responses([Response("d", responses)]),
        )
        return karat.evaluate(corpus, run, profile=profile, measures=["blanc:micro.f1"])["blanc:micro.f1"]

    assert blanc(["A", "B", "C"], ["A", "B", "C"]) == 1
    assert blanc(["A", "A", "A"], ["B", "B", "B"]) == 1
    assert blanc(["A", "A", "B"], ["A", "A", "B"]) == 1
    # Together: none of gold's 0 and the predictions' 1. Apart: 2 of gold's 3 and of the predictions' 2, F1 4/5.
    assert blanc(["A", "B", "C"], ["A", "A", "C"]) == pytest.approx((0 + 4 / 5) / 2)


def test_what_blanc_is_can_be_explained():
    text = karat.explain("blanc:micro.f1")
    assert "the mean of pairwise:micro.f1 and pairwise-negative:micro.f1" in text
    assert "neither side has a pair in one of the two" in text


def test_labels_outside_the_evaluation_span_are_counted_without_alternatives_and_duplicates():
    """One label of three is outside; the second alternative and the duplicate are dropped for another reason."""
    labels = (
        Label(0, 3, "Q1", mention_id="u"),
        Label(0, 3, "Q2", mention_id="u"),
        Label(5, 8, "Q3"),
        Label(5, 8, "Q3", mention_id="again"),
        Label(40, 43, "Q4"),
    )
    corpus = Corpus.from_documents([Document("d", TEXT, labels, evaluation_span=(0, 20))])
    run = Run.from_responses([Response("d", (Prediction(0, 3, "Q1"),))])
    result = karat.evaluate(corpus, run, profile="neleval", measures=["strong_link_match"])
    assert result.skipped["labels outside the evaluation span"] == 1
    assert result.skipped["further alternatives of mentions (only the first counts)"] == 1
    assert result["strong_link_match:micro.r"] == 1 / 2


# --- scores by facet


def test_filtered_groups_score_the_clusters_of_each_value():
    """Of PER, the gold clusters are {Q1, Q1} and {Q2}, the predicted ones {Q1, Q1, Q1}: muc has 1 of 1 and 1 of 2."""
    labels = (Label(0, 3, "Q1"), Label(5, 8, "Q1"), Label(10, 13, "Q2"))
    corpus = Corpus.from_documents(
        [
            Document("a", TEXT, tuple(Label(item.start, item.end, item.entity, types=("PER",)) for item in labels)),
            Document("b", TEXT, (Label(0, 3, "Q3", types=("LOC",)),)),
        ]
    )
    predictions = tuple(Prediction(item.start, item.end, "Q1", types=("PER",)) for item in labels)
    run = Run.from_responses([Response("a", predictions), Response("b", (Prediction(0, 3, "Q3", types=("LOC",)),))])
    groups = karat.evaluate(
        corpus, run, measures=["muc:micro.f1", "strong:micro.f1"], by=["types"], settings={"groups": "filtered"}
    ).groups["types"]
    person = groups["muc"]["PER"].measures
    assert (person["micro.r"], person["micro.p"], person["macro.f1"]) == (1, 0.5, None)
    assert groups["muc"]["LOC"].measures["micro.f1"] is None  # a single mention has no link to another
    assert groups["strong"]["PER"].measures["micro.f1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("groups", ["filtered", "credited"])
def test_a_mean_of_two_views_has_no_scores_by_facet(groups):
    corpus = Corpus.from_documents([Document("d", TEXT, GOLD)])
    run = Run.from_responses([Response("d", PREDICTIONS)])
    settings = {"groups": groups}
    result = karat.evaluate(
        corpus, run, measures=["blanc:micro.f1", "strong:micro.f1"], by=["types"], settings=settings
    )
    assert list(result.groups["types"]) == ["strong"]
    with pytest.raises(UsageError, match="blanc has no scores by types"):
        karat.evaluate(corpus, run, measures=["blanc:micro.f1@types=PER"], settings=settings)
