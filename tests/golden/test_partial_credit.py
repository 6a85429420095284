"""Partial credit for near misses: by hand, as laws, and never without its label."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run, UsageError
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.errors import UnknownNameError
from karat.model.spec.relation import PARTIAL_CREDIT_KINDS
from karat.render.knowledge import list_credit_measures
from tests import strategies
from tests.conftest import with_settings

KB = InMemoryKB.from_tables(
    name="kb",
    entities=["Q64", "Q1", "Q2", "Q3", "Q4", "Q5", "Q515"],
    names={"Q64": "Berlin", "Q1": "Rome", "Q2": "Berlin", "Q3": "Berlin", "Q4": "iron", "Q5": "Berlin", "Q515": "city"},
    types={
        "Q64": frozenset({"Q515"}),
        "Q1": frozenset({"Q515"}),
        "Q2": frozenset({"ORG"}),
        "Q3": frozenset({"Q515"}),
        "Q4": frozenset({"metal"}),
        "Q5": frozenset({"PER"}),
    },
    subclass_of=[("Q515", "LOC")],
)
WRONG = {
    "Q515": "parent",
    "Q1": "sibling",
    "Q2": "metonym",
    "Q3": "same-name",
    "Q5": "same-name",
    "Q4": None,
    "Q99": None,
}
"""How each prediction is near to Berlin, the city.

As in ELEVANT, a composer of this name is no metonym. Iron is not near, and Q99 is unknown.
"""


def scored(labels, predictions, *names, **more):
    gold = Corpus.from_documents([Document("d", "a b c d e f g h", tuple(labels))])
    run = Run.from_responses([Response("d", tuple(predictions))])
    result = karat.evaluate(gold, run, kb=KB, measures=[f"{name}:micro.f1" for name in names], **with_settings(more))
    return [tuple(result.views[name].weights.sum(axis=0).tolist()) for name in names]


@pytest.mark.parametrize(("prediction", "nearness"), WRONG.items())
@pytest.mark.parametrize("credit", PARTIAL_CREDIT_KINDS)
def test_each_by_itself(prediction, nearness, credit):
    name = f"strong+{credit}=0.25"
    earned = 0.25 if credit == nearness else 0.0
    assert scored([Label(0, 1, "Q64")], [Prediction(0, 1, prediction)], name) == [
        (earned, 1 - earned, earned, 1 - earned)
    ]


def test_a_child_is_below():
    assert scored([Label(0, 1, "Q515")], [Prediction(0, 1, "Q64")], "strong+child=0.5") == [(0.5, 0.5, 0.5, 0.5)]


def test_by_hand():
    """One right, a sibling for half a point, a class for a quarter, iron for nothing; the place must fit as ever."""
    labels = [Label(2 * at, 2 * at + 1, "Q64") for at in range(4)]
    predictions = [Prediction(2 * at, 2 * at + 1, id) for at, id in enumerate(["Q64", "Q1", "Q515", "Q4"])]
    beside = Prediction(8, 9, "Q1")  # stands where no gold is
    found = scored(labels, [*predictions, beside], "strong", "strong+sibling=0.5+parent=0.25")
    assert found == [(1.0, 4.0, 1.0, 3.0), (1.75, 3.25, 1.75, 2.25)]


def test_a_right_link_is_never_given_up_for_a_near_one():
    labels = [Label(0, 3, "Q64"), Label(2, 5, "Q1")]
    found = scored(labels, [Prediction(0, 5, "Q64")], "weak", "weak+sibling=1")
    assert found == [(1.0, 0.0, 1.0, 1.0)] * 2


def test_a_near_link_chooses_no_segmentation():
    labels = [
        Label(0, 5, "Q64", mention_id="r"),
        Label(0, 1, "Q1", mention_id="p", parent="r"),
        Label(4, 5, "Q4", mention_id="q", parent="r"),
    ]
    strict, credit = scored(labels, [Prediction(0, 1, "Q3")], "strong", "strong+sibling=0.5+same-name=0.5")
    assert (sum(strict[:2]), sum(strict[2:])) == (sum(credit[:2]), sum(credit[2:]))


@given(strategies.pairs(plain=True), st.sampled_from([0.25, 0.5, 1.0]))
def test_laws(pair, part):
    """No credit is the strict score; more credit is never less; and what is counted stays the same."""
    corpus, run = pair
    names = ["weak", *(f"weak+same-name={points}+sibling={points}" for points in (0, part / 2, part))]
    result = karat.evaluate(corpus, run, kb=KB, measures=[f"{name}:micro.f1" for name in names])
    strict, nothing, less, more = (result.views[name].weights.sum(axis=0) for name in names)
    assert nothing == pytest.approx(strict)
    assert less[0] >= strict[0] - 1e-9
    assert more[0] >= less[0] - 1e-9
    for each in (less, more):
        assert (each[0] + each[1], each[2] + each[3]) == pytest.approx((strict[0] + strict[1], strict[2] + strict[3]))


def test_the_signature_and_the_prose_say_so():
    gold = Corpus.from_documents([Document("d", "a", (Label(0, 1, "Q64"),))])
    run = Run.from_responses([Response("d", (Prediction(0, 1, "Q1"),))])
    measures = list_credit_measures("sibling=0.5, parent=0.25")
    result = karat.evaluate(gold, run, kb=KB, measures=measures, profile="gerbil", settings={"prefixes": "Q"})
    assert result.signature["match"] == "weak,weak+sibling=0.5+parent=0.25"
    assert result["weak+sibling=0.5+parent=0.25:micro.f1"] == 0.5
    said = karat.explain(str(result.signature))
    assert "get partial credit, which no reference tool gives" in said
    assert "0.5 for a sibling, 0.25 for a parent" in karat.explain("weak+sibling=0.5+parent=0.25")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("weak+uncle=0.5", UnknownNameError, "unknown near miss 'uncle'"),
        ("weak+parent", UsageError, r"'parent' is not a valid credit\. Write"),
        ("weak+parent=2", UsageError, "from 0 to 1"),
        ("weak+parent=nan", UsageError, "from 0 to 1"),
        ("weak+parent=0.5+parent=1", UsageError, "set twice"),
        ("mention+parent=0.5", UsageError, "cannot give credit for near misses"),
        ("entity+parent=0.5", UsageError, "cannot give credit for near misses"),
    ],
)
def test_credits_are_checked(name, error, message):
    with pytest.raises(error, match=message):
        scored([Label(0, 1, "Q64")], [Prediction(0, 1, "Q1")], name)


def test_nobody_gives_credit_without_knowledge_or_by_lookup():
    gold = Corpus.from_documents([Document("d", "a", (Label(0, 1, "Q64"),))])
    run = Run.from_responses([Response("d", (Prediction(0, 1, "Q1"),))])
    with pytest.raises(UsageError, match="needs a knowledge base"):
        karat.evaluate(gold, run, measures=["strong+parent=0.5:micro.f1"])
    with pytest.raises(UsageError, match="compares exact spans"):
        scored([Label(0, 1, "Q64")], [Prediction(0, 1, "Q1")], "strong+parent=0.5", assignment="lookup")


def test_from_the_command_line(karat_cli, tmp_path):
    credit = "same-name=0.5,sibling=0.25"
    ran = karat_cli(
        "kb", "near-misses", "demo", "demo/prior", "--credit", credit, "--json", str(tmp_path / "near.json")
    )
    assert "with partial credit (not comparable with the scores of other tools)" in " ".join(ran.out.split())
    assert "match:weak,weak+same-name=0.5+sibling=0.25" in ran.out
    (found,) = json.loads((tmp_path / "near.json").read_text())["systems"]
    assert found["credit"]["relation"] == "weak+same-name=0.5+sibling=0.25"
    strict, credited = found["credit"]["strict"], found["credit"]["credited"]
    plain = karat.evaluate(karat.load("demo"), karat.load_run("demo/prior"), kb="starter", measures=["weak:micro.f1"])
    assert strict["micro.f1"] == plain["weak:micro.f1"]
    assert all(credited[name] > strict[name] for name in strict)
    assert karat_cli("kb", "near-misses", "demo", "demo/prior", "--credit", "uncle=0.5").code == 2
