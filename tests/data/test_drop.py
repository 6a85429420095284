"""Answers that are dropped before scoring."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Answer, Corpus, Document, InputError, Label, Reply, Run
from karat.errors import UsageError
from karat.evaluation.drop import RULES, dropped, needs_text, rules_of
from karat.kb.tables import Tables
from karat.model.surface import lowercased
from tests import strategies

TEXT = "The baker Tom Reed sold rye bread in Ulm in May."
TOM, RYE, ULM, MAY = (10, 18), (24, 33), (37, 40), (44, 47)


def corpus(*labels):
    return Corpus.of([Document("a", TEXT, labels), Document("b", "Ulm")], name="tiny")


def run(*answers):
    return Run.of([Reply("a", answers), Reply("b", (Answer(0, 3, "Q1"),))])


def kept(found):
    return [(reply.id, [(x.start, x.end) for x in reply.answers]) for reply in found]


def facts(**tables):
    return Tables.of(name="facts", **tables)


def test_lowercase_looks_at_the_text():
    given = run(Answer(*TOM, "Q2"), Answer(4, 9, "Q3"), Answer(*RYE, None), Answer(43, 47, "Q4"), Answer(47, 48))
    left, counts = dropped(corpus(), given, ["lowercase"], None)
    assert kept(left) == [("a", [TOM, (43, 47)]), ("b", [(0, 3)])]  # " May" has a capital, "." has no letter
    assert counts == {"answers dropped by lowercase": 3}
    assert left.digest == run(Answer(*TOM, "Q2"), Answer(43, 47, "Q4")).digest


def test_non_named_looks_at_the_name_in_the_knowledge_base():
    kb = facts(names={"Q1": "Ulm", "Q2": "rye bread", "Q4": "4 may"}, redirects={"Q3": "Q2"})
    answers = (
        Answer(*TOM, "Q9"),
        Answer(*RYE, "Q2"),
        Answer(*RYE, "Q3"),
        Answer(*RYE, "Q1"),
        Answer(*MAY, None),
        Answer(*MAY, UNLINKED),
        Answer(*MAY, "x:may", same_as=("Q9", "Q4")),
    )
    left, counts = dropped(corpus(), run(*answers), ["non-named"], kb)
    assert kept(left) == [("a", [TOM, RYE, MAY, MAY]), ("b", [(0, 3)])]
    assert counts == {
        "answers dropped by non-named": 3,
        "answers that non-named cannot decide (no name known; they stay)": 3,
    }


def test_types_are_those_of_the_answer_or_else_of_the_entity():
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
    answers = {
        "its own": Answer(0, 3, "Q1", types=("food",)),
        "its own, though the entity is none": Answer(0, 4, "Q2", types=("odd", "town")),
        "NIL with a type": Answer(0, 5, None, types=("place",)),
        "of the knowledge base": Answer(0, 6, "Q1"),
        "known to have none": Answer(0, 7, "Q4"),
        "of the gold standard": Answer(0, 8, "Q5"),
        "of a label by another id": Answer(0, 9, "x:5"),
        "of a label by what it stands for": Answer(0, 10, "Q6"),
        "unknown": Answer(0, 11, "Q8"),
        "NIL": Answer(0, 12, None),
    }
    given = run(*answers.values())
    left, counts = dropped(gold, given, ["type:place"], kb)
    assert kept(left)[0] == ("a", [(0, 3), (0, 7), (0, 11), (0, 12)])
    assert kept(left)[1] == ("b", [])  # the reply stays
    assert counts == {
        "answers dropped by type:place": 7,
        "answers that type:place cannot decide (no type known; they stay)": 2,
    }
    left, counts = dropped(gold, given, ["type:place"], None)  # the gold standard says that Q1 is a person
    assert kept(left)[0] == ("a", [(0, 3), (0, 4), (0, 6), (0, 7), (0, 8), (0, 9), (0, 10), (0, 11), (0, 12)])
    assert counts == {
        "answers dropped by type:place": 1,
        "answers that type:place cannot decide (no type known; they stay)": 4,
    }


def test_scores_below_a_number():
    answers = (Answer(*TOM, "Q2", score=0.5), Answer(*RYE, "Q3", score=0.4), Answer(*ULM, "Q1", score=-1.0))
    left, counts = dropped(corpus(), run(*answers), ["score<0.5"], None)
    assert kept(left) == [("a", [TOM]), ("b", [(0, 3)])]
    assert counts == {
        "answers dropped by score<0.5": 2,
        "answers that score<0.5 cannot decide (no score; they stay)": 1,
    }


def test_an_answer_is_counted_for_the_first_rule_that_drops_it():
    answers = (Answer(*RYE, "Q2", score=0.1), Answer(*TOM, "Q3", score=0.1), Answer(4, 9, "Q4"), Answer(*ULM, "Q1"))
    for rules in (["lowercase", "score<0.5"], ["score<0.5", "lowercase"]):
        left, counts = dropped(corpus(), run(*answers), rules, None)
        assert kept(left) == [("a", [ULM]), ("b", [(0, 3)])]
        assert sum(n for what, n in counts.items() if "dropped" in what) == 3
        assert counts[f"answers dropped by {rules[0]}"] == 2
        assert counts["answers that score<0.5 cannot decide (no score; they stay)"] == 2  # [4, 9) is gone


def test_what_is_not_dropped_is_as_it_was():
    given = run(Answer(*TOM, "Q2"))
    assert dropped(corpus(), given, [], None) == (given, {})
    assert dropped(corpus(), given, ["lowercase"], None) == (given, {"answers dropped by lowercase": 0})


def test_documents_may_be_answered_in_any_order_or_not_exist():
    given = Run.of(
        [Reply("x", (Answer(0, 9, "Q1", score=0.1),)), Reply("b", (Answer(1, 3, "Q1"),)), Reply("a", (Answer(*TOM),))]
    )
    left, counts = dropped(corpus(), given, ["lowercase", "score<1"], None)
    assert kept(left) == [("x", [(0, 9)]), ("b", []), ("a", [TOM])]
    assert counts == {
        "answers dropped by lowercase": 1,
        "answers dropped by score<1": 0,
        "answers that score<1 cannot decide (no score; they stay)": 1,
    }


def test_spans_outside_the_text_are_refused_before_they_are_dropped():
    given = Run.of([Reply("b", (Answer(0, 9, "Q1", score=0.1),))])
    for rule in ("lowercase", "score<1"):
        with pytest.raises(InputError, match=r"answer \[0, 9\) in a text of 3 code points"):
            dropped(corpus(), given, [rule], None)


@pytest.mark.parametrize(
    "rule",
    ["", "lower", "Lowercase", "type:", "type: ", "score<", "score<x", "score<nan", "score<=1", "score>1", "none"],
)
def test_other_rules_are_refused_with_those_that_there_are(rule):
    with pytest.raises(UsageError) as problem:
        dropped(corpus(), run(), [rule], None)
    assert all(f"{known}: " in str(problem.value) for known in RULES)
    if rule != "none":
        with pytest.raises(UsageError, match="is no rule"):
            rules_of(rule)


def test_rules_that_lack_what_they_look_at_are_refused(tmp_path):
    karat.save(corpus(), tmp_path / "gold.parquet")
    bare = karat.load(tmp_path / "gold.parquet", text=False)
    assert not bare.has_text
    with pytest.raises(UsageError, match=r"tiny.*without.*text=True"):
        dropped(bare, run(), ["lowercase"], None)
    with pytest.raises(UsageError, match=r"knowledge base.*--kb"):
        dropped(bare, run(), ["non-named"], None)
    assert len(dropped(bare, run(Answer(*TOM, score=0.0)), ["score<1"], None)[0].answers) == 1


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
    assert rules_of(text) == rules
    assert not rules or rules_of(",".join(rules)) == rules
    assert needs_text(rules) == ("lowercase" in rules)


@given(strategies.pairs(), st.sampled_from([-1.0, 0.25, 0.5]))
def test_dropping_is_filtering(pair, least):
    gold, answered = pair
    texts = {document.id: document.text for document in gold}
    rules = ["lowercase", f"score<{least}"]

    def stays(id, answer):
        low = answer.score is not None and answer.score < least
        return not low and not lowercased(texts[id][answer.start : answer.end])

    left, counts = dropped(gold, answered, rules, None)
    expected = [
        Reply(reply.id, tuple(answer for answer in reply.answers if stays(reply.id, answer))) for reply in answered
    ]
    assert list(left) == expected
    assert sum(counts[f"answers dropped by {rule}"] for rule in rules) == len(answered.answers) - len(left.answers)
    again, _ = dropped(gold, left, rules, None)
    assert again is left
    assert left.digest == Run.of(expected).digest
