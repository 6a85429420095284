"""Cases small enough to be worked out by hand; the expected figures are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import karat
from karat import UNLINKED, Corpus, Document, Label, Prediction, Response, Run
from karat.analysis.comparison.compare import compare
from karat.analysis.comparison.entries import entry_from_run
from karat.evaluation.request import Request
from karat.kb.in_memory_kb import InMemoryKB
from karat.matching.read.facets import facet_names
from karat.plugins.reports.table import render_table
from karat.render.comparison import render_page
from karat.render.report import render_report
from tests.conftest import with_settings

TEXT = "Ada Lovelace met Charles Babbage in Chatham, New Jersey."
#       0   4        13  17      25      33 36       45  49


def counts(labels, predictions, relation="strong", *, text=TEXT, **options):
    """Matched predictions, unmatched predictions, matched gold, unmatched gold of one document."""
    corpus = Corpus.from_documents([Document("d", text, tuple(labels))])
    run = Run.from_responses([Response("d", tuple(predictions))])
    found = karat.evaluate(corpus, run, measures=[f"{relation}:micro.f1"], **with_settings(options)).counts(relation)
    return found.matched_predictions, found.unmatched_predictions, found.matched_gold, found.unmatched_gold


RIGHT, WRONG, MISSED, EXTRA, NOTHING = (1, 0, 1, 0), (0, 1, 0, 1), (0, 0, 0, 1), (0, 1, 0, 0), (0, 0, 0, 0)

ONE = Label(0, 12, "Q7259")
MAYBE = Label(0, 12, "Q7259", optional=True)
BARE = Label(0, 12)
NIL = Label(0, 12, None)


@pytest.mark.parametrize(
    ("labels", "predictions", "link", "mention"),
    [
        ([ONE], [Prediction(0, 12, "Q7259")], RIGHT, RIGHT),
        ([ONE], [Prediction(0, 12, "Q1")], WRONG, RIGHT),
        ([ONE], [Prediction(0, 12, None)], WRONG, RIGHT),
        ([ONE], [Prediction(0, 12)], MISSED, RIGHT),
        ([ONE], [], MISSED, MISSED),
        ([ONE], [Prediction(4, 12, "Q7259")], (0, 1, 0, 1), (0, 1, 0, 1)),
        ([], [Prediction(0, 12, "Q7259")], EXTRA, EXTRA),
        ([], [Prediction(0, 12, None)], EXTRA, EXTRA),
        ([], [Prediction(0, 12)], NOTHING, EXTRA),
        ([MAYBE], [Prediction(0, 12, "Q7259")], NOTHING, NOTHING),
        ([MAYBE], [Prediction(0, 12, "Q1")], EXTRA, NOTHING),
        ([MAYBE], [], NOTHING, NOTHING),
        ([NIL], [Prediction(0, 12, None)], RIGHT, RIGHT),
        ([NIL], [Prediction(0, 12, "Q1")], WRONG, RIGHT),
        ([NIL], [], MISSED, MISSED),
        ([BARE], [Prediction(0, 12, "Q1")], NOTHING, RIGHT),
        ([BARE], [Prediction(0, 12)], NOTHING, RIGHT),
        ([BARE], [], NOTHING, MISSED),
    ],
)
def test_every_row_of_the_policy(labels, predictions, link, mention):
    assert counts(labels, predictions) == link
    assert counts(labels, predictions, "weak") == (RIGHT if predictions == [Prediction(4, 12, "Q7259")] else link)
    assert counts(labels, predictions, "mention") == mention


@pytest.mark.parametrize(("entity", "expected"), [("Q102911", RIGHT), ("Q55", RIGHT), ("Q1", WRONG)])
def test_alternative_links_count_once(entity, expected):
    labels = [Label(0, 12, "Q102911", mention_id="u"), Label(0, 12, "Q55", mention_id="u")]
    assert counts(labels, [Prediction(0, 12, entity)]) == expected


def test_two_predictions_to_alternatives_of_one_mention_are_one_right_and_one_wrong():
    labels = [Label(0, 12, "Q102911", mention_id="u"), Label(0, 12, "Q55", mention_id="u")]
    assert counts(labels, [Prediction(0, 12, "Q102911"), Prediction(0, 12, "Q55")]) == (1, 1, 1, 0)


WHOLE = Label(36, 55, "Q1068062", mention_id="whole")
PARTS = [
    Label(36, 43, "Q502", mention_id="town", parent="whole"),
    Label(45, 55, "Q1408", mention_id="state", parent="whole"),
]


@pytest.mark.parametrize(
    ("predictions", "expected"),
    [
        ([Prediction(36, 55, "Q1068062")], RIGHT),
        ([Prediction(36, 43, "Q502"), Prediction(45, 55, "Q1408")], RIGHT),
        ([Prediction(36, 43, "Q502")], MISSED),
        ([], MISSED),
        ([Prediction(36, 43, "Q502"), Prediction(45, 55, "Q1")], (0, 1, 0, 1)),
        ([Prediction(36, 55, "Q1068062"), Prediction(45, 55, "Q1408")], (1, 1, 1, 0)),
        ([Prediction(36, 55, "Q1")], WRONG),
    ],
)
def test_segmentations_count_once_and_false_positives_as_usual(predictions, expected):
    assert counts([WHOLE, *PARTS], predictions) == expected


def test_an_optional_part_need_not_be_found():
    state = Label(45, 55, "Q1408", mention_id="state", parent="whole", optional=True)
    assert counts([WHOLE, PARTS[0], state], [Prediction(36, 43, "Q502")]) == RIGHT


def test_nested_mentions_are_two_mentions():
    labels = [Label(36, 55, "Q1068062"), Label(45, 55, "Q1408")]
    assert counts(labels, [Prediction(45, 55, "Q1408")]) == (1, 0, 1, 1)
    assert counts(labels, [Prediction(36, 55, "Q1068062"), Prediction(45, 55, "Q1408")]) == (2, 0, 2, 0)


def test_weak_matching_pairs_one_to_one():
    """Splitting a mention into pieces earns one match, not several."""
    assert counts([ONE], [Prediction(0, 3, "Q7259"), Prediction(4, 12, "Q7259")], "weak") == (1, 1, 1, 0)


def test_touching_spans_do_not_overlap():
    assert counts([Label(0, 4, "Q1")], [Prediction(4, 8, "Q1")], "weak") == (0, 1, 0, 1)


def test_optimal_finds_two_where_greedy_finds_one():
    """The first mention overlaps both predictions, the second only the first prediction."""
    labels = [Label(0, 10, "Q1"), Label(5, 8, "Q1")]
    predictions = [Prediction(4, 7, "Q1"), Prediction(0, 2, "Q1")]
    assert counts(labels, predictions, "weak", assignment="greedy") == (1, 1, 1, 1)
    assert counts(labels, predictions, "weak", assignment="optimal") == (2, 0, 2, 0)
    assert counts(labels, predictions, "weak", assignment="membership") == (2, 0, 2, 0)


def test_membership_lets_one_prediction_serve_several_mentions():
    labels = [Label(0, 3, "Q1"), Label(4, 12, "Q1")]
    assert counts(labels, [Prediction(0, 12, "Q1")], "weak", assignment="membership") == (1, 0, 2, 0)
    assert counts([ONE], [Prediction(0, 3, "Q7259"), Prediction(4, 12, "Q7259")], "weak", assignment="membership") == (
        2,
        0,
        1,
        0,
    )


@pytest.mark.parametrize(
    ("predictions", "taken"),
    [
        ([Prediction(0, 3, "Q7259"), Prediction(0, 12, "Q7259")], 1),  # the exact span
        ([Prediction(0, 3, "Q7259"), Prediction(3, 12, "Q7259")], 1),  # the larger overlap
        ([Prediction(0, 3, "Q7259"), Prediction(9, 12, "Q7259")], 0),  # the one that begins first
        ([Prediction(0, 12, "Q7259", score=0.1), Prediction(0, 3, "Q7259", score=0.9)], 1),  # the higher score
        ([Prediction(0, 12, "Q7259", score=0.1), Prediction(0, 3, "Q7259")], 1),  # no score: no threshold removes it
    ],
)
def test_ties_are_broken_as_stated(predictions, taken):
    corpus, run = (
        Corpus.from_documents([Document("d", TEXT, (ONE,))]),
        Run.from_responses([Response("d", tuple(predictions))]),
    )
    rows = karat.evaluate(corpus, run, measures=["weak:micro.f1"]).verdicts.to_pylist()
    assert [row["prediction"] for row in rows if row["outcome"] == "tp"] == [taken]


def test_a_required_mention_comes_before_an_optional_one():
    labels = [Label(0, 12, "Q1", optional=True), Label(4, 12, "Q1")]
    assert counts(labels, [Prediction(0, 12, "Q1")], "weak") == RIGHT


def test_entities_count_once_per_document():
    labels = [Label(0, 3, "Q1"), Label(4, 12, "Q1"), Label(17, 24, "Q2"), Label(25, 32, None)]
    predictions = [Prediction(45, 55, "Q1"), Prediction(0, 3, "Q3"), Prediction(4, 12, "Q3"), Prediction(25, 32, None)]
    assert counts(labels, predictions, "entity") == (1, 1, 1, 1)


def test_same_as_ids_mean_the_same():
    assert counts([Label(0, 12, "Q7259")], [Prediction(0, 12, "dbpedia:Ada", same_as=("Q7259",))]) == RIGHT
    assert counts([Label(0, 12, "Q7259", same_as=("x",))], [Prediction(0, 12, "y", same_as=("x",))]) == RIGHT
    assert counts([Label(0, 12, "Q7259", same_as=("x",))], [Prediction(0, 12, "y", same_as=("z",))]) == WRONG
    assert counts([Label(0, 12, "Q7259", same_as=("x",))], [Prediction(4, 12, "y", same_as=("x",))], "entity") == RIGHT


@pytest.mark.parametrize("text", ["😀 Ada", "\ufeffAda", "a\u0301 Ada", "x\r\nAda", "𝒳漢Ada"])
def test_offsets_are_code_points(text, tmp_path):
    start = text.index("Ada")
    corpus = Corpus.from_documents([Document("d", text, (Label(start, start + 3, "Q7259"),))])
    karat.save(corpus, tmp_path / "gold.jsonl")
    read = karat.load(tmp_path / "gold.jsonl")
    assert read["d"].text == text
    result = karat.evaluate(read, Run.from_responses([Response("d", (Prediction(start, start + 3, "Q7259"),))]))
    assert result["strong:micro.f1"] == 1
    assert result.verdicts.to_pylist()[0]["text"] == "Ada"


def _four_documents():
    """P and R per document: (1, 1/2), (1/2, 1), nothing on either side, gold only."""
    documents = [
        Document("a", TEXT, (Label(0, 3, "Q1"), Label(4, 12, "Q2"))),
        Document("b", TEXT, (Label(0, 3, "Q1"),)),
        Document("c", TEXT),
        Document("d", TEXT, (Label(0, 3, "Q1"),)),
    ]
    responses = [
        Response("b", (Prediction(0, 3, "Q1"), Prediction(4, 12, "Q9"))),
        Response("a", (Prediction(0, 3, "Q1"),)),
    ]
    return Corpus.from_documents(documents), Run.from_responses(responses)


def test_micro_and_both_macro_scores():
    result = karat.evaluate(*_four_documents(), measures=["strong:micro.f1"])
    # tp 2, fp 1, fn 2
    assert result["strong:micro.p"] == 2 / 3
    assert result["strong:micro.r"] == 2 / 4
    assert result["strong:micro.f1"] == pytest.approx(4 / 7)
    # P is undefined in d; R is defined everywhere (1/2, 1, 1, 0); c scores 1 throughout
    assert result["strong:macro.p"] == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert result.score("strong:macro.p").n == 3
    assert result["strong:macro.r"] == pytest.approx((1 / 2 + 1 + 1 + 0) / 4)
    assert result["strong:macro.f1"] == pytest.approx((2 / 3 + 2 / 3 + 1 + 0) / 4)
    p, r = 2.5 / 3, 2.5 / 4
    assert result["strong:macro.f1-of-means"] == pytest.approx(2 * p * r / (p + r))
    assert result.skipped == {"documents without predictions": 2}


def test_undefined_scores_are_none_with_a_reason():
    corpus, run = Corpus.from_documents([Document("a", TEXT, (ONE,))]), Run.from_responses([Response("a")])
    result = karat.evaluate(corpus, run)
    assert result["strong:micro.p"] is None
    assert result.score("strong:micro.p").reason == "there are no predictions"
    assert result["strong:micro.r"] == 0
    assert result["strong:micro.f1"] == 0
    assert result["strong:accuracy"] is None
    assert result["strong[nil]:micro.f1"] is None
    assert result.score("strong[nil]:micro.f1").reason == "there are neither gold mentions nor predictions"
    nothing = karat.evaluate(Corpus.from_documents([Document("a", TEXT)]), run)
    assert nothing["strong:micro.f1"] is None
    assert nothing["strong:macro.f1"] == 1


def test_accuracy_is_right_links_over_detected_mentions():
    labels = [Label(0, 3, "Q1"), Label(4, 12, "Q2"), Label(17, 24, "Q3"), Label(36, 43)]
    predictions = [Prediction(0, 3, "Q1"), Prediction(4, 12, "Q9"), Prediction(36, 43, "Q5")]
    corpus, run = (
        Corpus.from_documents([Document("d", TEXT, tuple(labels))]),
        Run.from_responses([Response("d", tuple(predictions))]),
    )
    result = karat.evaluate(corpus, run)
    assert result["strong:accuracy"] == 1 / 2  # the mention without link is not among the two detected
    assert result["mention:micro.r"] == 3 / 4


def test_filters_choose_before_matching():
    labels = [Label(0, 3, "Q1"), Label(4, 12, None), Label(17, 24, "Q3", types=("PER",))]
    predictions = [
        Prediction(0, 3, "Q1"),
        Prediction(4, 12, "Q2"),
        Prediction(17, 24, None),
        Prediction(25, 32, "Q7", types=("PER",)),
    ]
    corpus, run = (
        Corpus.from_documents([Document("d", TEXT, tuple(labels))]),
        Run.from_responses([Response("d", tuple(predictions))]),
    )
    views = ("strong[in-kb]", "strong[nil]", "strong[gold-in-kb]", "strong[types=PER]")
    result = karat.evaluate(corpus, run, measures=[f"{view}:micro.f1" for view in views])
    found = {view: result.counts(view) for view in views}
    assert [found["strong[in-kb]"].matched_gold, found["strong[in-kb]"].unmatched_predictions] == [1, 2]
    assert [found["strong[nil]"].matched_gold, found["strong[nil]"].unmatched_predictions] == [0, 1]
    assert found["strong[nil]"].unmatched_gold == 1
    assert [found["strong[gold-in-kb]"].matched_gold, found["strong[gold-in-kb]"].unmatched_predictions] == [1, 1]
    assert [found["strong[types=PER]"].unmatched_gold, found["strong[types=PER]"].unmatched_predictions] == [1, 1]


def test_groups_credit_wrong_predictions_to_the_prediction_and_the_rest_to_the_gold():
    labels = [
        Label(0, 3, "Q1", types=("PER",), categories=("form:full",)),
        Label(4, 12, "Q2", types=("LOC", "ORG"), categories=("form:alias",)),
        Label(17, 24, None),
    ]
    predictions = [Prediction(0, 3, "Q1"), Prediction(4, 12, "Q1"), Prediction(17, 24, None), Prediction(25, 32, "Q9")]
    corpus, run = (
        Corpus.from_documents([Document("d", TEXT, tuple(labels))]),
        Run.from_responses([Response("d", tuple(predictions))]),
    )
    result = karat.evaluate(corpus, run, measures=["strong:micro.f1"], by=["types", "nil", "doc", "form"])
    types = {value: group.counts for value, group in result.groups["types"]["strong"].items()}
    # The wrong link to Q1 is charged to PER, the type that the gold standard gives Q1 elsewhere.
    assert (types["PER"].matched_gold, types["PER"].unmatched_predictions) == (1, 1)
    assert types["LOC"].unmatched_gold == types["ORG"].unmatched_gold == 1
    assert types["none"].unmatched_predictions == 1
    assert result["strong:micro.p@types=PER"] == 1 / 2
    with pytest.raises(karat.KaratError, match=r"no scores of strong by type\. Did you mean 'types'"):
        result["strong:micro.p@type=PER"]
    with pytest.raises(karat.KaratError, match=r"Pass measures=\['strong:micro.p@kind=datetime'\] to karat.evaluate"):
        result["strong:micro.p@kind=datetime"]
    assert result["strong:micro.r@nil=true"] == 1
    assert result["strong:micro.f1@doc=d"] == result["strong:micro.f1"]
    assert result["strong:micro.r@form=alias"] == 0
    assert result["strong:micro.p@form=alias"] is None
    assert "predictions have no form" in result.score("strong:micro.p@form=alias").reason


@pytest.mark.parametrize(("n_untyped", "is_noted"), [(0, False), (1, False), (2, True), (5, True)])
def test_a_note_says_if_precision_by_type_leaves_out_wrong_predictions(n_untyped, is_noted):
    """Each wrong prediction counts once, though it has two types, and a tenth of them is enough for the note."""
    label = Label(0, 3, "Q1", types=("PER", "ORG"))
    wrong = [Prediction(4 + i, 5 + i, f"Q9{i}") for i in range(n_untyped)]
    wrong += [Prediction(20 + i, 21 + i, "Q1") for i in range(14)]
    corpus = Corpus.from_documents([Document("d", TEXT, (label,))])
    run = Run.from_responses([Response("d", tuple(wrong))])
    notes = karat.evaluate(corpus, run, measures="strong:micro.f1", by="types").notes
    expected = f"strong: {n_untyped} of {n_untyped + 14} wrong predictions have no known type and count under none"
    assert any(note.startswith(expected) for note in notes) is is_noted


def test_the_note_on_missing_types_names_a_remedy_and_each_table_once():
    """Types of a knowledge base are those of the facet `entity-type`, so they do not help `types`."""
    corpus = Corpus.from_documents([Document("d", TEXT, (Label(0, 3, "Q1", types=("PER",)),))])
    run = Run.from_responses([Response("d", (Prediction(4, 5, "Q9"),))])
    notes = [note for note in karat.evaluate(corpus, run, by="types").notes if "known type" in note]
    assert notes == [
        "strong, weak, mention: 1 of 1 wrong predictions have no known type and count under none, so precision by "
        "types is too high: add types to the predictions, or use --by entity-type with --kb"
    ]


@pytest.mark.parametrize(
    ("has_kb", "remedy"),
    [
        (False, "pass a knowledge base with types (--kb)"),
        (True, "they have no entity, or the knowledge base has no types of it"),
    ],
)
def test_the_note_on_missing_entity_types_does_not_ask_for_a_knowledge_base_that_was_passed(has_kb, remedy):
    corpus = Corpus.from_documents([Document("d", TEXT, (Label(0, 3, "Q1"),))])
    run = Run.from_responses([Response("d", (Prediction(4, 5, "Q9"),))])
    kb = InMemoryKB.from_tables(types={"Q1": ("Q5",)}) if has_kb else None
    notes = karat.evaluate(corpus, run, by="entity-type", kb=kb, measures="strong:micro.f1").notes
    (note,) = [note for note in notes if "known entity type" in note]
    assert note.endswith(f"so precision by entity-type is too high: {remedy}")


def test_a_facet_that_is_a_dimension_too_is_listed_once():
    corpus = Corpus.from_documents([Document("d", TEXT, (Label(0, 3, "Q1", categories=("nil:yes", "form:alias")),))])
    names = facet_names(corpus.labels)
    assert (names.count("nil"), names.count("form")) == (1, 1)


def test_tables_show_the_names_of_types_with_their_ids():
    """Names are those of the knowledge base, or else the built-in ones; other values stay as they are."""
    types = ("Q515", "Q900000001", "LOC")
    corpus = Corpus.from_documents([Document("d", TEXT, (Label(0, 3, "Q1", types=types),))], name="c")
    run = Run.from_responses([Response("d", (Prediction(0, 3, "Q1"),))], name="r")
    kb = InMemoryKB.from_tables(names={"Q900000001": "lake city"})
    result = karat.evaluate(corpus, run, by="types", kb=kb, measures="strong:micro.f1")
    for text in (render_table([result]), result.to_markdown(), result.to_latex(), render_report([result], "markdown")):
        assert "city (Q515)" in text
        assert "lake city (Q900000001)" in text
        assert "LOC (" not in text
    assert "Q900000001 " in render_table([karat.Result.from_json(result.to_json())])
    entries = [entry_from_run(corpus, replace(run, name=name)) for name in "ab"]
    comparison = compare(entries, Request.from_options(kb=kb), measure="strong:micro.f1@types=Q515")
    page = render_page(comparison, None, details=False)
    assert "strong:micro.f1@types=Q515 (linking with NIL), types city (Q515), in percent" in page


def test_only_the_evaluation_span_counts():
    document = Document("d", TEXT, (Label(0, 12, "Q1"), Label(17, 32, "Q2")), evaluation_span=(0, 20))
    run = Run.from_responses(
        [Response("d", (Prediction(0, 12, "Q1"), Prediction(17, 32, "Q9"), Prediction(36, 43, "Q8")))]
    )
    result = karat.evaluate(Corpus.from_documents([document]), run)
    assert result["strong:micro.f1"] == 1
    assert result.skipped == {"labels outside the evaluation span": 1, "predictions outside the evaluation span": 2}


def test_a_threshold_drops_low_scores_and_keeps_predictions_without():
    predictions = [Prediction(0, 12, "Q7259", score=0.5), Prediction(17, 24, "Q1", score=0.4), Prediction(25, 32, "Q2")]
    assert counts([ONE], predictions, threshold="0.5") == (1, 1, 1, 0)


def test_a_relation_of_ones_own_may_grant_partial_credit(tmp_path):
    plugin = tmp_path / "near.py"
    plugin.write_text(
        "import numpy as np\n"
        "from karat.matching.align.overlap import find_overlaps, same_entity, same_span\n"
        "from karat.model.spec.relation import MatchRelation\n"
        "def _degree(gold, predictions, pairs):\n"
        "    return np.where(same_span(gold, predictions, pairs), 1.0, 0.5) * same_entity(gold, predictions, pairs)\n"
        "RELATION = MatchRelation(title='Near', description='Half a point for overlap.', "
        "find_pairs=find_overlaps, degree=_degree,\n"
        "                    is_graded=True, detection='mention-weak')\n"
    )
    predictions = [Prediction(0, 3, "Q7259"), Prediction(17, 24, "Q9")]
    labels = [ONE, Label(17, 24, "Q1")]
    assert counts(labels, predictions, str(plugin)) == (0.5, 1.5, 0.5, 1.5)


@pytest.mark.parametrize("view", ["strong[in-kb]", "weak[in-kb]", "strong[gold-in-kb]", "mention[in-kb]", "entity"])
def test_a_link_on_a_span_without_link_never_counts(view):
    corpus = Corpus.from_documents([Document("d", TEXT, (BARE, Label(17, 32, "Q1")))])
    run = Run.from_responses([Response("d", (Prediction(0, 12, "Q9"), Prediction(17, 32, "Q1")))])
    assert karat.evaluate(corpus, run, measures=[f"{view}:micro.p"])[f"{view}:micro.p"] == 1


def test_a_filter_that_predictions_cannot_pass_is_refused():
    corpus = Corpus.from_documents(
        [Document("d", TEXT, (Label(0, 12, "Q1", categories=("form:alias",), types=("PER",)),))]
    )
    run = Run.from_responses([Response("d", (Prediction(0, 12, "Q1"),))])
    with pytest.raises(karat.UsageError, match="@form=alias"):
        karat.evaluate(corpus, run, measures="strong[form=alias]:micro.r")
    with pytest.raises(karat.UnknownNameError, match="PRE"):
        karat.evaluate(corpus, run, measures="strong[types=PRE]:micro.r")
    with pytest.raises(karat.UnknownNameError, match="nowhere"):
        karat.evaluate(corpus, run, measures="strong[doc=nowhere]:micro.r")


def test_an_prediction_without_types_has_all_types_of_its_entity():
    labels = (Label(0, 3, "Q1", types=("PER",)), Label(4, 12, "Q1", types=("LOC",)))
    corpus, run = (
        Corpus.from_documents([Document("d", TEXT, labels)]),
        Run.from_responses([Response("d", (Prediction(17, 24, "Q1"),))]),
    )
    groups = karat.evaluate(corpus, run, measures="strong:micro.f1", by="types").groups["types"]["strong"]
    assert groups["PER"].counts.unmatched_predictions == groups["LOC"].counts.unmatched_predictions == 1


def test_detection_looks_at_the_segmentation_that_is_scored():
    labels = [WHOLE, *PARTS, Label(36, 55, "Q9")]
    predictions = [Prediction(36, 55, "Q9"), Prediction(36, 43, "Q502"), Prediction(45, 55, "Q1408")]
    corpus, run = (
        Corpus.from_documents([Document("d", TEXT, tuple(labels))]),
        Run.from_responses([Response("d", tuple(predictions))]),
    )
    assert karat.evaluate(corpus, run)["strong:accuracy"] == 1


@pytest.mark.parametrize(
    ("labels", "predictions", "expected"),
    [
        # A root without link is never missed; neither is a part without link.
        ([Label(36, 55, mention_id="whole"), *PARTS], [Prediction(36, 43, "Q502")], NOTHING),
        ([WHOLE, PARTS[0], Label(45, 55, mention_id="state", parent="whole")], [Prediction(36, 43, "Q502")], RIGHT),
        # Any number of predictions may stand on a span without link.
        ([BARE], [Prediction(0, 12, "Q1"), Prediction(0, 12, "Q2")], NOTHING),
    ],
)
def test_spans_without_link_are_neutral(labels, predictions, expected):
    assert counts(labels, predictions) == expected


def test_a_required_mention_comes_before_a_span_without_link():
    labels = [Label(0, 12, "Q1", mention_id="u"), Label(0, 12, mention_id="u"), Label(4, 12, "Q1")]
    assert counts(labels, [Prediction(0, 12, "Q1")], "weak") == RIGHT


def test_a_document_by_itself_scores_as_in_the_mean():
    result = karat.evaluate(*_four_documents(), measures=["strong:micro.f1"], by="doc")
    values = [result[f"strong:micro.f1@doc={document}"] for document in "abcd"]
    assert sum(values) / 4 == pytest.approx(result["strong:macro.f1"])


def test_the_signature_names_what_was_used(tmp_path):
    corpus, run = _four_documents()
    assert karat.evaluate(corpus, run, measures="entity:micro.f1").signature["match"] == "entity"
    assert karat.evaluate(corpus, run, settings={"match": "weak"}).signature["match"] == "weak"
    plugin = tmp_path / "mine.py"
    seen = set()
    for title in ("One", "Two"):
        plugin.write_text(
            "from karat.matching.align.overlap import find_overlaps\nfrom karat.model.spec.relation import "
            "MatchRelation\n"
            f"RELATION = MatchRelation({title!r}, 'Mine.', find_overlaps)\n"
        )
        seen.add(karat.evaluate(corpus, run, settings={"match": str(plugin)}).signature["match"])
    assert len(seen) == 2
    assert all(name.startswith("mine.py@") for name in seen)


def test_numbers_of_numpy_are_numbers():
    corpus = Corpus.from_documents([Document("d", TEXT, (Label(np.int64(0), np.int32(12), "Q7259"),))])
    run = Run.from_responses([Response("d", (Prediction(np.int64(0), np.int64(12), "Q7259", score=np.float32(0.5)),))])
    assert karat.evaluate(corpus, run)["strong:micro.f1"] == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda c, r: karat.evaluate(r, c),
        lambda c, r: karat.evaluate("gold.jsonl", "predictions.jsonl"),
        lambda c, r: Corpus.from_documents(Document("d", TEXT)),
        lambda c, r: Corpus.from_documents([Response("d")]),
        lambda c, r: Corpus.from_documents([]),
        lambda c, r: Run.from_responses([]),
        lambda c, r: Corpus.from_documents([Document("d", TEXT, (Label("0", 3),))]),
        lambda c, r: Corpus.from_documents([Document("d", "half \ud800")]),
        lambda c, r: c[0],
        lambda c, r: c["nothing"],
        lambda c, r: karat.evaluate(c, r)["strong:micro.f2"],
        lambda c, r: karat.load("no such file.jsonl"),
    ],
)
def test_wrong_calls_say_what_is_wrong(call):
    with pytest.raises(karat.KaratError):
        call(*_four_documents())


def test_a_result_comes_back_from_its_file(tmp_path):
    result = karat.evaluate(*_four_documents(), by=["doc"])
    karat.save(result, tmp_path / "result.json")
    again = karat.Result.from_json((tmp_path / "result.json").read_bytes())
    assert again.measures == result.measures
    assert set(again) == set(result)
    assert again.views["strong"].weights.tolist() == result.views["strong"].weights.tolist()
    with pytest.raises(karat.KaratError, match="no verdicts"):
        _ = again.verdicts


def test_unlinked_is_neither_nil_nor_an_entity():
    assert Label(0, 1).entity is UNLINKED
    assert Label(0, 1, None).entity is None
