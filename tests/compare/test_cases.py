"""Single cases with all systems beside each other."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Answer, Corpus, Document, Label, Reply, Run
from karat.errors import UnknownNameError, UsageError
from karat.kb.tables import Tables
from tests import strategies

TEXT = "Berlin is old. In Ulm it rains."
BERLIN, ULM = Label(0, 6, "Q64", name="Berlin", types=("LOC",)), Label(18, 21, "Q3012", types=("LOC",))


def sides(*answers: tuple[Answer, ...], labels=(BERLIN, ULM)):
    corpus = Corpus.of([Document("d", TEXT, labels)], name="bay")
    return corpus, [Run.of([Reply("d", own)], name=f"run{n}") for n, own in enumerate(answers)]


def shown(*answers, labels=(BERLIN, ULM), **asked):
    corpus, runs = sides(*answers, labels=labels)
    return karat.cases(runs, gold=corpus, **asked)


def test_a_mention_stands_in_its_sentence_with_gold_and_answers_by_name():
    found = shown((Answer(0, 6, "Q64"), Answer(18, 21, "Q64", score=0.5)), (Answer(0, 6, "Q1"),))
    first, second = found
    assert (first.document, first.start, first.end, first.types) == ("d", 0, 6, ("LOC",))
    assert (first.sentence.text, first.sentence.start, first.sentence.end) == ("Berlin is old.", 0, 6)
    assert [(link.entity, link.name) for link in first.gold] == [("Q64", "Berlin")]
    assert [(own.system, own.outcome) for own in first.systems] == [("run0", "tp"), ("run1", "wrong link")]
    assert [own.answer.name for own in first.systems] == ["Berlin", None]
    assert second.sentence.text == "In Ulm it rains."
    assert [(own.outcome, own.answer and own.answer.name, own.score) for own in second.systems] == [
        ("wrong link", "Berlin", 0.5),
        ("fn", None, None),
    ]
    assert second.systems[1].errors == ("ner-fn", "ner-fn-other")


def test_a_knowledge_base_gives_names():
    kb = Tables.of(names={"Q1": "Universe", "Q3012": "Ulm"})
    first, second = shown((Answer(0, 6, "Q1"),), kb=kb)
    assert first.systems[0].answer.name == "Universe"
    assert second.gold[0].name == "Ulm"


def test_what_systems_see_where_nothing_is_stands_together():
    stray = Answer(7, 9, "Q1")
    found = shown((stray,), (stray, Answer(7, 9, "Q2")), (), labels=(BERLIN,))
    spurious = found[1]
    assert spurious.gold == ()
    assert [(own.system, own.answer.entity) for own in spurious.systems] == [
        ("run0", "Q1"),
        ("run1", "Q1"),
        ("run1", "Q2"),
    ]


def test_an_answer_too_many_stands_with_the_mention_that_it_stands_on():
    (case,) = shown((Answer(0, 6, "Q64"), Answer(0, 6, "Q1")), labels=(BERLIN,))
    assert sorted(own.outcome for own in case.systems) == ["fp", "tp"]
    assert case.gold[0].entity == "Q64"


def test_an_answer_beside_a_mention_is_said_with_what_was_missed():
    missed, spurious = shown((Answer(0, 9, "Q64"),), labels=(BERLIN,))
    assert [(own.outcome, [link.end for link in own.near]) for own in missed.systems] == [("fn", [9])]
    assert missed.systems[0].near[0].name == "Berlin"
    assert [(own.outcome, own.near) for own in spurious.systems] == [("fp", ())]


def test_alternatives_nil_and_no_link_are_told_apart():
    labels = (Label(0, 6, "Q64", unit="u"), Label(0, 6, "Q1", unit="u"), Label(18, 21, None, optional=True))
    first, second = shown((Answer(0, 6, UNLINKED), Answer(18, 21, None)), labels=labels, view="mention")
    assert {link.entity for link in first.gold} == {"Q64", "Q1"}
    assert (first.systems[0].answer.entity, first.systems[0].answer.nil) == (None, False)
    assert second.gold[0].nil
    assert second.optional
    assert second.systems[0].answer.nil


def test_filters_hold_together():
    given = (Answer(0, 6, "Q64"), Answer(7, 9, "Q1", types=("ORG",))), (Answer(0, 6, "Q1"), Answer(18, 21, "Q3012"))
    every = shown(*given)
    assert [(case.start, [own.outcome for own in case.systems]) for case in every] == [
        (0, ["tp", "wrong link"]),
        (7, ["fp"]),
        (18, ["fn", "tp"]),
    ]

    def starts(**asked):
        return [case.start for case in shown(*given, **asked)]

    assert starts(outcomes=["wrong"]) == [0, 7, 18]
    assert starts(outcomes=["wrong"], only=["run1"]) == [0]
    assert starts(outcomes=["tp"], only=["run0"]) == [0]
    assert starts(errors=["ner-fn"]) == [18]
    assert starts(errors=["ner-fn"], outcomes=["tp"]) == []
    assert starts(types=["LOC"]) == [0, 18]
    assert starts(types=["ORG"]) == [7]
    assert starts(entities=["Q1"]) == [0, 7]
    assert starts(entities=["Berlin"]) == [0]
    assert starts(documents=["d"]) == [0, 7, 18]
    assert starts(flips=("run0", "run1")) == [0, 18]
    assert starts(flips=("run1", "run0"), entities=["Q3012"]) == [18]
    assert starts(only=["run0"]) == [0, 7, 18]
    assert len(shown(*given)[1:]) == 2


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"outcomes": ["wron"]}, UnknownNameError, "Did you mean 'wrong'"),
        ({"errors": ["ner"]}, UnknownNameError, "unknown error 'ner'"),
        ({"types": ["PER"]}, UnknownNameError, "unknown type 'PER'.*LOC"),
        ({"documents": ["e"]}, UnknownNameError, "unknown document"),
        ({"only": ["me"]}, UnknownNameError, "unknown system"),
        ({"flips": ("run0", "me")}, UnknownNameError, "unknown system"),
        ({"flips": ("run0", "run0")}, UsageError, "against itself"),
        ({"entities": ["Q9"]}, UsageError, "linked to Q9"),
        ({"view": "mention", "errors": ["ner-fn"]}, UsageError, "views with links"),
        ({"task": "c2kb"}, UsageError, "no single mentions"),
    ],
)
def test_what_no_case_can_have_is_refused(asked, error, says):
    with pytest.raises(error, match=says):
        shown((Answer(0, 6, "Q64"),), **asked)


def test_results_have_no_cases():
    corpus, (run,) = sides((Answer(0, 6, "Q64"),))
    stored = karat.Result.from_json(karat.evaluate(corpus, run).to_json())
    with pytest.raises(UsageError, match="results keep sums"):
        karat.cases([stored])


@given(strategies.pairs())
def test_cases_are_the_verdicts_and_nothing_else(pair):
    """Merging loses no verdict and makes none: outcomes, answers and mentions are those of the table."""
    corpus, run = pair
    found = karat.cases([run], gold=corpus)
    table = karat.evaluate(corpus, run, measures=["strong:micro.f1"]).verdicts.to_pylist()
    rows = [row for row in table if row["view"] == "strong"]
    assert Counter(own.outcome for case in found for own in case.systems) == Counter(row["outcome"] for row in rows)
    assert found.outcomes[run.name] == dict(Counter(row["outcome"] for row in rows))
    answers = [
        (case.document, own.answer.start, own.answer.end, own.answer.entity)
        for case in found
        for own in case.systems
        if own.answer is not None
    ]
    said = [
        (row["document"], row["answer_start"], row["answer_end"], row["answer_entity"])
        for row in rows
        if row["answer"] is not None
    ]
    assert Counter(answers) == Counter(said)
    texts = {document.id: document.text for document in corpus}
    for case in found:
        own = case.sentence
        assert own.text[own.start : own.end] == texts[case.document][case.start : case.end]


def test_flips_are_those_of_compare():
    gold = karat.load("demo")
    runs = [karat.load_run(f"demo/{name}", corpus=gold) for name in ("prior", "noisy")]
    (flips,) = karat.compare(runs, gold=gold, resamples=10, permutations=19).flips
    assert len(karat.cases(runs, gold=gold, flips=("prior", "noisy"))) == flips.only_one + flips.only_two
    only = karat.cases(runs, gold=gold, flips=("prior", "noisy"), only=["prior"], outcomes=["right"])
    assert len(only) == flips.only_two, "noisy comes first in compare"
