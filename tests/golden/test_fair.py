"""Fair evaluation by hand: ELEVANT's table of cases, its trees, and every difference that the page lists."""

from __future__ import annotations

import pytest
from tools.differences import DIFFERENCES, PROFILES

import karat
from karat import UNLINKED, Corpus, Document, Label, Prediction, Response, Run
from karat.kb.in_memory_kb import InMemoryKB
from tests.conftest import ROOT, with_settings

KB = InMemoryKB.from_tables(
    names={"Ulm": "Ulm", "Bonn": "Bonn", "Y1921": "1921", "Q9": "nine"},
    types={"Ulm": ["LOC"], "Bonn": ["LOC"], "Y1921": ["DATETIME"], "Y1922": ["DATETIME"], "Q9": ["QUANTITY"]},
)
VIEWS = ("strong[in-kb]", "strong", "mention[in-kb]", "mention")


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.title)
def test_the_differences_are_as_the_documentation_lists_them(difference, profile):
    assert difference.compute_counts(profile) == difference.expected_counts[profile]


def test_the_documentation_lists_them():
    page = (ROOT / "docs" / "how-to" / "from-elevant.md").read_text(encoding="utf-8")
    for difference in DIFFERENCES:
        assert f"**{difference.title}.** {difference.description}" in page


def ends(labels, predictions, *, text="Ulm is as old as Bonn and Graz.", **options):
    """What is counted in linking and in detection, in the part with entities and in the whole."""
    corpus, run = (
        Corpus.from_documents([Document("d", text, tuple(labels))]),
        Run.from_responses([Response("d", tuple(predictions))]),
    )
    measures = [f"{view}:micro.f1" for view in VIEWS]
    result = karat.evaluate(corpus, run, profile="elevant", kb=KB, measures=measures, **with_settings(options))
    counts = map(result.counts, VIEWS)
    found = [{"TP": c.matched_gold, "FN": c.unmatched_gold, "FP": c.unmatched_predictions} for c in counts]
    return tuple("+".join(end for end, count in each.items() for _ in range(count)) or "-" for each in found)


ENT, NIL = {"entity": "Ulm"}, {"entity": None}
OPT = {"entity": "Ulm", "optional": True}
DATE = {"entity": "1921-01-01", "kind": "datetime", "optional": True}


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        # linking [in-kb], linking, detection [in-kb], detection; "Ulm" is right, "Bonn" is wrong
        (None, "Bonn", ("FP", "FP", "FP", "FP")),
        (None, None, ("-", "FP", "-", "FP")),
        (ENT, "nothing", ("FN", "FN", "FN", "FN")),
        (NIL, "nothing", ("-", "FN", "-", "FN")),
        (OPT, "nothing", ("-", "-", "-", "-")),
        (DATE, "nothing", ("-", "-", "-", "-")),
        (ENT, "Ulm", ("TP", "TP", "TP", "TP")),
        (ENT, "Bonn", ("FN+FP", "FN+FP", "TP", "TP")),
        (ENT, None, ("FN", "FN+FP", "FN", "TP")),
        (NIL, "Bonn", ("FP", "FN+FP", "FP", "TP")),
        (NIL, None, ("-", "TP", "-", "TP")),
        (OPT, "Ulm", ("-", "-", "-", "-")),
        (OPT, "Bonn", ("FP", "FP", "-", "-")),
        (OPT, None, ("-", "FP", "-", "-")),
        ({**NIL, "optional": True}, "Bonn", ("FP", "FP", "FP", "-")),
        ({**NIL, "optional": True}, None, ("-", "-", "-", "-")),
        (DATE, "Y1921", ("-", "-", "-", "-")),
        (DATE, "Y1922", ("-", "-", "-", "-")),  # any datetime is right
        (DATE, "Q9", ("FP", "FP", "-", "-")),  # a quantity is not
        (DATE, "Bonn", ("FP", "FP", "-", "-")),
        (DATE, None, ("-", "FP", "-", "-")),
        (ENT, UNLINKED, ("FN+FP", "FN+FP", "TP", "TP")),
        (NIL, UNLINKED, ("FP", "FN+FP", "FP", "TP")),
        (None, UNLINKED, ("-", "-", "-", "-")),
    ],
)
def test_the_table_of_cases(gold, prediction, expected):
    labels = () if gold is None else (Label(0, 3, **gold),)
    predictions = () if prediction == "nothing" else (Prediction(0, 3, prediction),)
    assert ends(labels, predictions) == expected


# Trees: "Chatham, New Jersey" may also be said to be Chatham and New Jersey ------------------------------------------

TEXT = "Chatham, New Jersey has a church."
WHOLE, FIRST, SECOND = (0, 19), (0, 7), (9, 19)


def tree(*, optional=False, first=False, second=False):
    return (
        Label(*WHOLE, "Ulm", mention_id="r", optional=optional),
        Label(*FIRST, "Ulm", mention_id="a", parent="r", optional=first),
        Label(*SECOND, "Bonn", mention_id="b", parent="r", optional=second),
    )


@pytest.mark.parametrize(
    ("labels", "predictions", "expected"),
    [
        # The root is right: it counts, and nothing below it.
        (tree(), [(WHOLE, "Ulm")], "TP"),
        (tree(), [(WHOLE, "Ulm"), (FIRST, "Graz")], "TP"),
        # Nothing below it is found: the root counts.
        (tree(), [], "FN"),
        (tree(), [(WHOLE, "Graz")], "FN+FP"),
        # A part is found: the root is missed unless all its parts are right, and parts add false positives.
        (tree(), [(FIRST, "Ulm"), (SECOND, "Bonn")], "TP"),
        (tree(), [(FIRST, "Ulm")], "FN"),
        (tree(), [(FIRST, "Ulm"), (SECOND, "Graz")], "FN+FP"),
        (tree(), [(FIRST, "Graz"), (SECOND, "Graz")], "FN+FP+FP"),
        # The wrong prediction on the root is lost, since its parts speak for it.
        (tree(), [(WHOLE, "Graz"), (FIRST, "Ulm"), (SECOND, "Bonn")], "TP"),
        # Optional parts need not be found.
        (tree(second=True), [(FIRST, "Ulm")], "TP"),
        (tree(first=True, second=True), [(FIRST, "Ulm")], "-"),
        (tree(optional=True), [(WHOLE, "Ulm")], "-"),
        (tree(optional=True), [], "FN"),
        (tree(optional=True, first=True, second=True), [], "-"),
    ],
)
def test_trees(labels, predictions, expected):
    found = ends(labels, [Prediction(*span, entity) for span, entity in predictions], text=TEXT)
    assert found[:2] == (expected, expected)


def test_another_entity_for_the_same_span():
    """The child is an alternative: found by either; a wrong link counts at the root, since they share their words."""
    labels = (Label(*WHOLE, "Ulm", mention_id="r"), Label(*WHOLE, "Bonn", mention_id="a", parent="r"))
    for entity, expected in (("Ulm", "TP"), ("Bonn", "TP"), ("Graz", "FN+FP")):
        assert ends(labels, [Prediction(*WHOLE, entity)], text=TEXT)[:2] == (expected, expected)


def test_roots_that_count_by_their_parts_are_in_no_error_figure():
    result = karat.evaluate(
        Corpus.from_documents([Document("d", TEXT, tree())]),
        Run.from_responses([Response("d", (Prediction(*FIRST, "Ulm"),))]),
        profile="elevant",
        measures=["strong[in-kb]:micro.f1"],
        by=["error"],
    )
    assert result.counts("strong[in-kb]").unmatched_gold == 1
    found = result.groups["error"]["strong[in-kb]"]["ner-fn"]
    assert (found.errors, found.total) == (0, 0)


# A whole document -----------------------------------------------------------------------------------------------------


def test_mention_types():
    """Ulm, she and the city are one mention each; she is right, the city is wrong and Ulm is missed."""
    text = "Ulm waited until she saw the city."
    labels = (
        Label(0, 3, "Ulm", name="Ulm"),
        Label(17, 20, "Q1", name="Mary Anning"),
        Label(25, 33, "Ulm", name="Ulm"),
    )
    predictions = (Prediction(17, 20, "Q1"), Prediction(25, 33, "Bonn"))
    result = karat.evaluate(
        Corpus.from_documents([Document("d", text, labels)]),
        Run.from_responses([Response("d", predictions)]),
        profile="elevant",
        kb=KB,
    )
    found = result.groups["mention-type"]["strong[in-kb]"]
    counts = {
        kind: (group.counts.matched_gold, group.counts.unmatched_predictions, group.counts.unmatched_gold)
        for kind, group in found.items()
    }
    assert counts == {
        "entity-named": (0, 0, 1),
        "entity": (0, 0, 1),
        "coreference-pronominal": (1, 0, 0),
        "coreference-nominal": (0, 1, 1),
        "coreference": (1, 1, 1),
    }
    assert result["mention[in-kb]:micro.r@mention-type=entity"] == 0  # ELEVANT's NER leaves coreference out
    assert result["mention[in-kb]:micro.r"] == pytest.approx(2 / 3)


def test_a_partial_name_that_is_rare_is_a_partial_name():
    text, labels = "Curie was there.", (Label(0, 5, "M", name="Marie Curie", types=("PER",)),)
    kb = InMemoryKB.from_tables(popular={"Curie": ["P"]}, demonyms=[])
    result = karat.evaluate(
        Corpus.from_documents([Document("d", text, labels)]),
        Run.from_responses([Response("d", (Prediction(0, 5, "P"),))]),
        profile="elevant",
        kb=kb,
        measures=["strong[in-kb]:micro.f1"],
        by=["error"],
    )
    found = result.groups["error"]["strong[in-kb]"]
    assert (found["disambiguation-partial-name"].errors, found["disambiguation-rare"].errors) == (1, 0)
