"""neleval's measures, worked by hand."""

from __future__ import annotations

import pytest

import karat
from karat import Answer, Corpus, Document, Label, Reply, Run, UsageError
from karat.errors import InputError, UnknownNameError

TEXT = "x" * 60


def scores(labels, answers, measure, **options):
    """P, R and F1 of one measure on one document."""
    corpus = Corpus.of([Document("d", TEXT, tuple(labels))])
    run = Run.of([Reply("d", tuple(answers))])
    result = karat.evaluate(corpus, run, like="neleval", measures=[measure], **options)
    return tuple(result[f"{measure}:micro.{short}"] for short in ("p", "r", "f1"))


GOLD = (
    Label(0, 3, "Q1", types=("PER",)),
    Label(5, 8, "Q2", types=("LOC",)),
    Label(10, 13, None, types=("PER",), nil_cluster="NIL1"),
    Label(15, 18, None, types=("ORG",), nil_cluster="NIL1"),
)
ANSWERS = (
    Answer(0, 3, "Q1", types=("PER",)),  # all right
    Answer(5, 8, "Q3", types=("LOC",)),  # another entity
    Answer(10, 13, None, types=("LOC",), nil_cluster="X"),  # another type
    Answer(20, 23, "Q1", types=("PER",)),  # nothing there
)


@pytest.mark.parametrize(
    ("measure", "tp", "answers", "gold"),
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
        ("entity_match", 1, 2, 2),  # the document has Q1 and Q2, the answers name Q1 and Q3
    ],
)
def test_sets(measure, tp, answers, gold):
    p, r = tp / answers, tp / gold
    assert scores(GOLD, ANSWERS, measure) == pytest.approx((p, r, 2 * p * r / (p + r) if tp else 0))


def test_what_occurs_twice_counts_once():
    twice = [Answer(0, 3, "Q1"), Answer(0, 3, "Q1"), Answer(0, 3, "Q9")]
    assert scores(GOLD[:1], twice, "strong_mention_match") == (1, 1, 1)
    assert scores(GOLD[:1], twice, "strong_link_match")[0] == 1 / 2


def test_a_triple_is_the_measure_of_that_name():
    assert scores(GOLD, ANSWERS, "sets:is_linked:span+kbid") == scores(GOLD, ANSWERS, "strong_link_match")
    assert scores(GOLD, ANSWERS, "sets:is_linked+is_first:span")[0] == 2 / 2  # Q1 at 20 is not the first Q1


def test_nothing_at_all_is_zero():
    assert scores((), (), "strong_mention_match") == (0, 0, 0)


def test_the_eleven_against_twelve_of_the_field():
    """11 gold mentions, 12 answers, 7 of them right in span and type: neleval says 7/12 and 7/11, GERBIL 7/16 twice."""
    labels = [Label(4 * i, 4 * i + 3, types=("PER",)) for i in range(11)]
    answers = [Answer(4 * i, 4 * i + 3, types=("PER",)) for i in range(7)]
    answers += [Answer(4 * i, 4 * i + 2, types=("PER",)) for i in range(7, 11)] + [Answer(50, 52, types=("PER",))]
    p, r = 7 / 12, 7 / 11
    assert scores(labels, answers, "strong_typed_mention_match") == pytest.approx((p, r, 2 * p * r / (p + r)))
    corpus, run = Corpus.of([Document("d", TEXT, tuple(labels))]), Run.of([Reply("d", tuple(answers))])
    theirs = karat.evaluate(corpus, run, like="gerbil", task="rt2kb", match="strong", nil="explicit", prefixes="none")
    assert (theirs["typed:micro.p"], theirs["typed:micro.r"]) == pytest.approx((7 / 16, 7 / 16))


def test_shares_of_characters():
    """Gold [0, 10) and [20, 30); answers cover 4 and 3 of the first, the second not; one answer lies outside by 2."""
    labels = [Label(0, 10, "Q1"), Label(20, 30, "Q2")]
    answers = [Answer(0, 4, "Q1"), Answer(7, 12, "Q1"), Answer(40, 44, "Q2")]
    p = (1 + 3 / 5 + 0) / 3
    assert scores(labels, answers, "overlap-maxmax::span+kbid")[:2] == pytest.approx((p, (4 / 10 + 0) / 2))
    assert scores(labels, answers, "overlap-summax::span+kbid")[:2] == pytest.approx((p, (7 / 10 + 0) / 2))


def test_filters_reach_the_denominators_of_shares():
    labels, answers = [Label(0, 3, "Q1"), Label(5, 8, None)], [Answer(0, 3, "Q1"), Answer(10, 13, None)]
    assert scores(labels, answers, "overlap-maxmax:is_linked:span+kbid") == (1, 1, 1)


def test_clusters_reach_across_documents():
    """Gold {1, 2} {3}; answers {1} {2, 3}: B-cubed P = (1 + 1/2 + 1/2) / 3, R = (1/2 + 1/2 + 1) / 3."""
    corpus = Corpus.of(
        [Document("a", TEXT, (Label(0, 3, "Q1"),)), Document("b", TEXT, (Label(0, 3, "Q1"), Label(5, 8, "Q2")))]
    )
    run = Run.of([Reply("a", (Answer(0, 3, "Q1"),)), Reply("b", (Answer(0, 3, "Q2"), Answer(5, 8, "Q2")))])
    result = karat.evaluate(
        corpus, run, measures=["b-cubed:micro.f1", "muc:micro.f1", "b_cubed_plus", "blanc:micro.f1"]
    )
    assert result["b-cubed:micro.p"] == pytest.approx(2 / 3)
    assert result["b-cubed:micro.r"] == pytest.approx(2 / 3)
    assert result["muc:micro.f1"] == 0  # no link of a cluster is found
    # With the entity in the key: (a 0-3, Q1) and (b 5-8, Q2) are common, each the only common one of its cluster.
    assert result["b_cubed_plus:micro.p"] == pytest.approx((1 + 1 / 2) / 3)
    assert result["b_cubed_plus:micro.r"] == pytest.approx((1 / 2 + 1) / 3)
    # pairwise: 0 of 1; apart: gold (1,3) (2,3), answers (1,2) (1,3): one of two
    assert result["blanc:micro.f1"] == pytest.approx((0 + 1 / 2) / 2)
    assert result["b-cubed:macro.f1"] is None


def test_nil_clusters():
    labels = [Label(0, 3, None, nil_cluster="a"), Label(5, 8, None, nil_cluster="a"), Label(10, 13, None)]
    answers = [Answer(0, 3, None, nil_cluster="z"), Answer(5, 8, None, nil_cluster="z"), Answer(10, 13, None)]
    corpus, run = Corpus.of([Document("d", TEXT, tuple(labels))]), Run.of([Reply("d", tuple(answers))])
    assert karat.evaluate(corpus, run, measures=["b-cubed[nil]:micro.f1"])["b-cubed[nil]:micro.f1"] == 1
    split = Run.of([Reply("d", tuple(Answer(a.start, a.end, None) for a in answers))])
    assert karat.evaluate(corpus, split, measures=["b-cubed[nil]:micro.r"])["b-cubed[nil]:micro.r"] == pytest.approx(
        2 / 3
    )


def test_sets_of_measures():
    result = karat.evaluate(
        Corpus.of([Document("d", TEXT, GOLD)]), Run.of([Reply("d", ANSWERS)]), like="neleval", measures=["tac09"]
    )
    assert result.shown == tuple(
        f"{name}:micro.{short}"
        for name in ("strong_link_match", "strong_nil_match", "strong_all_match")
        for short in ("p", "r", "f1")
    )
    assert karat.evaluate(Corpus.of([Document("d", TEXT, GOLD)]), Run.of([Reply("d", ANSWERS)]), like="neleval").shown


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
        scores(GOLD, ANSWERS, measure)


def test_clusters_have_no_curve():
    with pytest.raises(UsageError, match="curve"):
        karat.curve(Corpus.of([Document("d", TEXT, GOLD)]), Run.of([Reply("d", ANSWERS)]), match="b-cubed")


# --- corners


def test_an_answer_of_another_type_or_nil_cluster_is_another_answer():
    """The same span and id twice, first with the wrong type, then with the right one: neleval has both in its set."""
    labels = [
        Label(0, 3, "Q1", types=("PER",)),
        Label(5, 8, None, nil_cluster="a"),
        Label(10, 13, None, nil_cluster="a"),
    ]
    twice = [Answer(0, 3, "Q1", types=("LOC",)), Answer(0, 3, "Q1", types=("PER",)), Answer(0, 3, "Q1", types=("PER",))]
    assert scores(labels[:1], twice, "strong_typed_link_match")[:2] == (1 / 2, 1)
    assert scores(labels[:1], twice, "strong_link_match")[:2] == (1, 1)
    nils = [
        Answer(5, 8, None, nil_cluster="b"),
        Answer(5, 8, None, nil_cluster="c"),
        Answer(10, 13, None, nil_cluster="c"),
    ]
    # 5-8 is with itself (b) and with 10-13 (c): pairs of the answers are {5-8, 10-13}, as in gold.
    assert scores(labels[1:], nils, "pairwise") == (1, 1, 1)
    result = karat.evaluate(
        Corpus.of([Document("d", TEXT, (labels[0],))]),
        Run.of([Reply("d", tuple(twice))]),
        like="neleval",
        measures=["strong_typed_link_match"],
    )
    assert result.skipped["answers given twice (one counts)"] == 1


def test_gold_of_another_type_is_another_label():
    labels = [Label(0, 3, "Q1", types=("PER",)), Label(0, 3, "Q1", types=("LOC",), unit="2")]
    assert scores(labels, [Answer(0, 3, "Q1", types=("LOC",))], "strong_typed_link_match")[:2] == (1, 1 / 2)


def test_a_span_without_id_is_neither_linked_nor_nil(tmp_path):
    """Gold: Q1, a NIL, and a line of three columns; the answers are the same."""
    path = tmp_path / "gold.tab"
    path.write_text("d\t0\t2\tQ1\nd\t5\t7\tNIL1\nd\t10\t12\n")
    corpus, run = karat.load(path), karat.load_run(path)
    result = karat.evaluate(corpus, run, like="neleval", measures=["all-tagging"])
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
    result = karat.evaluate(corpus, run, like="neleval", measures=names)
    # B-cubed: the answers' one cluster holds a and b; a is half of it, and b has no twin in gold: (1/2 + 0) / 2.
    assert [result[name] for name in names] == [1 / 2, 1, 1, 1 / 4]
    assert result.skipped["gold: documents that only the answers have (there is nothing to find in them)"] == 1
    assert result.signature["data"] == f"gold@{corpus.digest}"
    left_out = karat.evaluate(corpus, run, like="neleval", measures=names, allow_unknown=True)
    assert [left_out[name] for name in names] == [1, 1, 1, 1]
    with pytest.raises(InputError, match="document 'b', which gold does not have"):
        karat.evaluate(corpus, run)


def test_a_key_without_document_compares_the_whole_corpus():
    """Gold names Q1 in a and b, and Q2 in b; the answers name Q1 in b, Q3 in a: one of two ids on each side."""
    corpus = Corpus.of(
        [Document("a", TEXT, (Label(0, 3, "Q1"),)), Document("b", TEXT, (Label(0, 3, "Q1"), Label(5, 8, "Q2")))]
    )
    run = Run.of([Reply("a", (Answer(0, 3, "Q3"), Answer(5, 8, None))), Reply("b", (Answer(20, 23, "Q1"),))])
    result = karat.evaluate(corpus, run, like="neleval", measures=["sets:is_linked:kbid", "sets::kbid"])
    assert [result[f"sets:is_linked:kbid:micro.{short}"] for short in ("p", "r", "f1")] == [1 / 2] * 3
    assert result["sets::kbid:micro.p"] == 1 / 3  # NIL is one key more
    assert result["sets:is_linked:kbid:macro.f1"] is None
    with pytest.raises(UsageError, match="curve"):
        karat.curve(corpus, run, match="sets:is_linked:kbid")


@pytest.mark.parametrize("like", ["karat", "neleval"])
def test_blanc_leaves_out_what_neither_side_has(like):
    """All alone: no pair is together. All in one: no pair is apart. Either way the other half is all there is."""

    def blanc(gold, answers):
        labels = tuple(Label(5 * i, 5 * i + 3, entity) for i, entity in enumerate(gold))
        replies = tuple(Answer(5 * i, 5 * i + 3, entity) for i, entity in enumerate(answers))
        corpus, run = Corpus.of([Document("d", TEXT, labels)]), Run.of([Reply("d", replies)])
        return karat.evaluate(corpus, run, like=like, measures=["blanc:micro.f1"])["blanc:micro.f1"]

    assert blanc(["A", "B", "C"], ["A", "B", "C"]) == 1
    assert blanc(["A", "A", "A"], ["B", "B", "B"]) == 1
    assert blanc(["A", "A", "B"], ["A", "A", "B"]) == 1
    # Together: none of gold's 0 and the answers' 1. Apart: 2 of gold's 3 and of the answers' 2, F1 4/5.
    assert blanc(["A", "B", "C"], ["A", "A", "C"]) == pytest.approx((0 + 4 / 5) / 2)


def test_what_blanc_is_can_be_explained():
    text = karat.explain("blanc:micro.f1")
    assert "the mean of pairwise:micro.f1 and pairwise-negative:micro.f1" in text
    assert "neither side has a pair is left out" in text
