"""Predictions that are dropped before scoring."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label, Prediction, Response, Run
from karat.evaluation.drop_rules import RULES, drop_predictions, needs_text, parse_drop_rules
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.errors import UsageError
from karat.model.surface import is_lowercase
from tests import strategies

TEXT = "The baker Tom Reed sold rye bread in Ulm in May."
TOM, RYE, ULM, MAY = (10, 18), (24, 33), (37, 40), (44, 47)


def corpus(*labels):
    return Corpus.from_documents([Document("a", TEXT, labels), Document("b", "Ulm")], name="tiny")


def run(*predictions):
    return Run.from_responses([Response("a", predictions), Response("b", (Prediction(0, 3, "Q1"),))])


def kept(found):
    return [(response.id, [(x.start, x.end) for x in response.predictions]) for response in found]


def facts(**tables):
    return InMemoryKB.from_tables(name="facts", **tables)


def test_lowercase_looks_at_the_text():
    given = run(
        Prediction(*TOM, "Q2"),
        Prediction(4, 9, "Q3"),
        Prediction(*RYE, None),
        Prediction(43, 47, "Q4"),
        Prediction(47, 48),
    )
    left, counts = drop_predictions(corpus(), given, ["lowercase"], None)
    assert kept(left) == [("a", [TOM, (43, 47)]), ("b", [(0, 3)])]  # " May" has a capital, "." has no letter
    assert counts == {"predictions dropped by lowercase": 3}
    assert left.digest == run(Prediction(*TOM, "Q2"), Prediction(43, 47, "Q4")).digest


def test_non_named_looks_at_the_name_in_the_knowledge_base():
    kb = facts(names={"Q1": "Ulm", "Q2": "rye bread", "Q4": "4 may"}, redirects={"Q3": "Q2"})
    predictions = (
        Prediction(*TOM, "Q9"),
        Prediction(*RYE, "Q2"),
        Prediction(*RYE, "Q3"),
        Prediction(*RYE, "Q1"),
        Prediction(*MAY, None),
        Prediction(*MAY, UNLINKED),
        Prediction(*MAY, "x:may", same_as=("Q9", "Q4")),
    )
    left, counts = drop_predictions(corpus(), run(*predictions), ["non-named"], kb)
    assert kept(left) == [("a", [TOM, RYE, MAY, MAY]), ("b", [(0, 3)])]
    assert counts == {
        "predictions dropped by non-named": 3,
        "predictions that non-named cannot decide (no name known; kept)": 3,
    }


def test_types_are_those_of_the_prediction_or_else_of_the_entity():
    kb = facts(
        types={"Q1": ["city"], "Q2": ["food"], "Q4": []},
        subclass_of=[("city", "place"), ("town", "place")],
        redirects={"Q6": "Q7"},
    )
    gold = corpus(
        Label(*TOM, "Q1", types=("person",)),
        Label(*ULM, "Q5", types=("town",), same_as=("x:5",)),
        Label(*MAY, "Q7", types=("place",)),
    )
    predictions = {
        "its own": Prediction(0, 3, "Q1", types=("food",)),
        "its own, though the entity is none": Prediction(0, 4, "Q2", types=("odd", "town")),
        "NIL with a type": Prediction(0, 5, None, types=("place",)),
        "of the knowledge base": Prediction(0, 6, "Q1"),
        "known to have none": Prediction(0, 7, "Q4"),
        "of the gold standard": Prediction(0, 8, "Q5"),
        "of a label by another id": Prediction(0, 9, "x:5"),
        "of a label by what it stands for": Prediction(0, 10, "Q6"),
        "unknown": Prediction(0, 11, "Q8"),
        "NIL": Prediction(0, 12, None),
    }
    given = run(*predictions.values())
    left, counts = drop_predictions(gold, given, ["type:place"], kb)
    assert kept(left)[0] == ("a", [(0, 3), (0, 7), (0, 11), (0, 12)])
    assert kept(left)[1] == ("b", [])  # the response stays
    assert counts == {
        "predictions dropped by type:place": 7,
        "predictions that type:place cannot decide (no type known; kept)": 2,
    }
    left, counts = drop_predictions(gold, given, ["type:place"], None)  # the gold standard says that Q1 is a person
    assert kept(left)[0] == ("a", [(0, 3), (0, 4), (0, 6), (0, 7), (0, 8), (0, 9), (0, 10), (0, 11), (0, 12)])
    assert counts == {
        "predictions dropped by type:place": 1,
        "predictions that type:place cannot decide (no type known; kept)": 4,
    }


def test_scores_below_a_number():
    predictions = (
        Prediction(*TOM, "Q2", score=0.5),
        Prediction(*RYE, "Q3", score=0.4),
        Prediction(*ULM, "Q1", score=-1.0),
    )
    left, counts = drop_predictions(corpus(), run(*predictions), ["score<0.5"], None)
    assert kept(left) == [("a", [TOM]), ("b", [(0, 3)])]
    assert counts == {
        "predictions dropped by score<0.5": 2,
        "predictions that score<0.5 cannot decide (no score; kept)": 1,
    }


def test_an_prediction_is_counted_for_the_first_rule_that_drops_it():
    predictions = (
        Prediction(*RYE, "Q2", score=0.1),
        Prediction(*TOM, "Q3", score=0.1),
        Prediction(4, 9, "Q4"),
        Prediction(*ULM, "Q1"),
    )
    for rules in (["lowercase", "score<0.5"], ["score<0.5", "lowercase"]):
        left, counts = drop_predictions(corpus(), run(*predictions), rules, None)
        assert kept(left) == [("a", [ULM]), ("b", [(0, 3)])]
        assert sum(n for what, n in counts.items() if "dropped" in what) == 3
        assert counts[f"predictions dropped by {rules[0]}"] == 2
        assert counts["predictions that score<0.5 cannot decide (no score; kept)"] == 2  # [4, 9) is gone


def test_what_is_not_dropped_is_as_it_was():
    given = run(Prediction(*TOM, "Q2"))
    assert drop_predictions(corpus(), given, [], None) == (given, {})
    assert drop_predictions(corpus(), given, ["lowercase"], None) == (given, {"predictions dropped by lowercase": 0})


def test_documents_may_be_answered_in_any_order_or_not_exist():
    given = Run.from_responses(
        [
            Response("x", (Prediction(0, 9, "Q1", score=0.1),)),
            Response("b", (Prediction(1, 3, "Q1"),)),
            Response("a", (Prediction(*TOM),)),
        ]
    )
    left, counts = drop_predictions(corpus(), given, ["lowercase", "score<1"], None)
    assert kept(left) == [("x", [(0, 9)]), ("b", []), ("a", [TOM])]
    assert counts == {
        "predictions dropped by lowercase": 1,
        "predictions dropped by score<1": 0,
        "predictions that score<1 cannot decide (no score; kept)": 1,
    }


def test_spans_outside_the_text_are_refused_before_they_are_dropped():
    given = Run.from_responses([Response("b", (Prediction(0, 9, "Q1", score=0.1),))])
    for rule in ("lowercase", "score<1"):
        with pytest.raises(InputError, match=r"prediction \[0, 9\) in a text of 3 code points"):
            drop_predictions(corpus(), given, [rule], None)


@pytest.mark.parametrize(
    "rule",
    ["", "lower", "Lowercase", "type:", "type: ", "score<", "score<x", "score<nan", "score<=1", "score>1", "none"],
)
def test_other_rules_are_refused_with_those_that_there_are(rule):
    with pytest.raises(UsageError) as problem:
        drop_predictions(corpus(), run(), [rule], None)
    assert all(f"{known}: " in str(problem.value) for known in RULES)
    if rule != "none":
        with pytest.raises(UsageError, match="is not a rule"):
            parse_drop_rules(rule)


def test_rules_that_lack_what_they_look_at_are_refused(tmp_path):
    karat.save(corpus(), tmp_path / "gold.parquet")
    bare = karat.load(tmp_path / "gold.parquet", text=False)
    assert not bare.has_text
    with pytest.raises(UsageError, match=r"tiny.*without.*text=True"):
        drop_predictions(bare, run(), ["lowercase"], None)
    with pytest.raises(UsageError, match=r"knowledge base.*kb="):
        drop_predictions(bare, run(), ["non-named"], None)
    assert len(drop_predictions(bare, run(Prediction(*TOM, score=0.0)), ["score<1"], None)[0].predictions) == 1


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("none", ()),
        ("lowercase", ("lowercase",)),
        ("lowercase,non-named", ("lowercase", "non-named")),
        (" score < .5 , type: Q5 ", ("score<.5", "type:Q5")),
        ("lowercase type:fictional place score<0.5", ("lowercase", "type:fictional place", "score<0.5")),
        ("lowercase,lowercase", ("lowercase",)),
    ],
)
def test_rules_in_one_line(text, rules):
    assert parse_drop_rules(text) == rules
    assert not rules or parse_drop_rules(",".join(rules)) == rules
    assert needs_text(rules) == ("lowercase" in rules)


@given(strategies.pairs(), st.sampled_from([-1.0, 0.25, 0.5]))
def test_dropping_is_filtering(pair, least):
    gold, answered = pair
    texts = {document.id: document.text for document in gold}
    rules = ["lowercase", f"score<{least}"]

    def stays(id, prediction):
        low = prediction.score is not None and prediction.score < least
        return not low and not is_lowercase(texts[id][prediction.start : prediction.end])

    left, counts = drop_predictions(gold, answered, rules, None)
    expected = [
        Response(
            response.id, tuple(prediction for prediction in response.predictions if stays(response.id, prediction))
        )
        for response in answered
    ]
    assert list(left) == expected
    assert sum(counts[f"predictions dropped by {rule}"] for rule in rules) == len(answered.predictions) - len(
        left.predictions
    )
    again, _ = drop_predictions(gold, left, rules, None)
    assert again is left
    assert left.digest == Run.from_responses(expected).digest
