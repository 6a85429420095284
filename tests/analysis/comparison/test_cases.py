"""Single cases with all systems beside each other."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Corpus, Document, Label, Prediction, Response, Run
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.errors import UnknownNameError, UsageError
from karat.render.cases import to_table
from tests import strategies

TEXT = "Berlin is old. In Ulm it rains."
BERLIN, ULM = Label(0, 6, "Q64", name="Berlin", types=("LOC",)), Label(18, 21, "Q3012", types=("LOC",))


def sides(*predictions: tuple[Prediction, ...], labels=(BERLIN, ULM)):
    corpus = Corpus.from_documents([Document("d", TEXT, labels)], name="bay")
    return corpus, [Run.from_responses([Response("d", own)], name=f"run{n}") for n, own in enumerate(predictions)]


def shown(*predictions, labels=(BERLIN, ULM), **asked):
    corpus, runs = sides(*predictions, labels=labels)
    return karat.find_cases(corpus, runs, **asked)


def test_a_mention_stands_in_its_sentence_with_gold_and_predictions_by_name():
    found = shown((Prediction(0, 6, "Q64"), Prediction(18, 21, "Q64", score=0.5)), (Prediction(0, 6, "Q1"),))
    first, second = found
    assert (first.document, first.start, first.end, first.types) == ("d", 0, 6, ("LOC",))
    assert (first.sentence.text, first.sentence.start, first.sentence.end) == ("Berlin is old.", 0, 6)
    assert [(link.entity, link.name) for link in first.gold] == [("Q64", "Berlin")]
    assert [(own.system, own.outcome) for own in first.systems] == [("run0", "tp"), ("run1", "wrong link")]
    assert [own.prediction.name for own in first.systems] == ["Berlin", None]
    assert second.sentence.text == "In Ulm it rains."
    assert [(own.outcome, own.prediction and own.prediction.name, own.score) for own in second.systems] == [
        ("wrong link", "Berlin", 0.5),
        ("fn", None, None),
    ]
    assert second.systems[1].errors == ("ner-fn", "ner-fn-other")


def test_cases_are_a_table_with_a_row_for_each_system():
    cases = shown((Prediction(0, 6, "Q64", score=0.5), Prediction(18, 21, None)), (Prediction(10, 13, "Q5"),))
    rows = to_table(cases).select(["surface", "gold", "system", "outcome", "prediction", "score"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("Berlin", ["Q64"], "run0", "tp", "Q64", 0.5),
        ("Berlin", ["Q64"], "run1", "fn", None, None),
        ("old", [], "run1", "fp", "Q5", None),
        ("Ulm", ["Q3012"], "run0", "wrong link", "NIL", None),
        ("Ulm", ["Q3012"], "run1", "fn", None, None),
    ]
    lines = cases.to_markdown().splitlines()
    assert "| d | \\[Berlin\\] is old. | Q64 Berlin | tp Q64 Berlin | fn |" in lines
    assert "| d | Berlin is \\[old\\]. | no mention | – | fp Q5 human |" in lines


def test_an_invented_mention_has_its_text_and_no_offsets_in_the_table():
    corpus = Corpus.from_documents([Document("d", TEXT, (BERLIN,))])
    run = karat.load_run([{"id": "d", "predictions": [{"text": "Zed", "entity": "Q9"}]}], corpus=corpus, system="mine")
    cases = karat.find_cases(corpus, run, outcomes="fp", settings={"invented": "wrong"})
    (row,) = to_table(cases).select(["start", "end", "surface", "prediction", "prediction_start"]).to_pylist()
    assert tuple(row.values()) == (None, None, "Zed", "Q9", None)
    assert "| d | Zed (invented) | no mention | fp Q9 |" in cases.to_markdown().splitlines()


def test_a_knowledge_base_gives_names():
    kb = InMemoryKB.from_tables(names={"Q1": "Universe", "Q3012": "Ulm"})
    first, second = shown((Prediction(0, 6, "Q1"),), kb=kb)
    assert first.systems[0].prediction.name == "Universe"
    assert second.gold[0].name == "Ulm"


def test_what_systems_see_where_nothing_is_stands_together():
    stray = Prediction(7, 9, "Q1")
    found = shown((stray,), (stray, Prediction(7, 9, "Q2")), (), labels=(BERLIN,))
    spurious = found[1]
    assert spurious.gold == ()
    assert [(own.system, own.prediction.entity) for own in spurious.systems] == [
        ("run0", "Q1"),
        ("run1", "Q1"),
        ("run1", "Q2"),
    ]


def test_an_prediction_too_many_stands_with_the_mention_that_it_stands_on():
    (case,) = shown((Prediction(0, 6, "Q64"), Prediction(0, 6, "Q1")), labels=(BERLIN,))
    assert sorted(own.outcome for own in case.systems) == ["fp", "tp"]
    assert case.gold[0].entity == "Q64"


def test_an_prediction_beside_a_mention_is_said_with_what_was_missed():
    missed, spurious = shown((Prediction(0, 9, "Q64"),), labels=(BERLIN,))
    assert [(own.outcome, [link.end for link in own.overlapping]) for own in missed.systems] == [("fn", [9])]
    assert missed.systems[0].overlapping[0].name == "Berlin"
    assert [(own.outcome, own.overlapping) for own in spurious.systems] == [("fp", ())]


def test_alternatives_nil_and_no_link_are_told_apart():
    labels = (Label(0, 6, "Q64", mention_id="u"), Label(0, 6, "Q1", mention_id="u"), Label(18, 21, None, optional=True))
    first, second = shown((Prediction(0, 6, UNLINKED), Prediction(18, 21, None)), labels=labels, view="mention")
    assert {link.entity for link in first.gold} == {"Q64", "Q1"}
    assert (first.systems[0].prediction.entity, first.systems[0].prediction.nil) == (None, False)
    assert second.gold[0].nil
    assert second.optional
    assert second.systems[0].prediction.nil


def test_filters_hold_together():
    given = (
        (Prediction(0, 6, "Q64"), Prediction(7, 9, "Q1", types=("ORG",))),
        (Prediction(0, 6, "Q1"), Prediction(18, 21, "Q3012")),
    )
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
    ("asked", "error", "description"),
    [
        ({"outcomes": ["wron"]}, UnknownNameError, "Did you mean 'wrong'"),
        ({"errors": ["ner"]}, UnknownNameError, "unknown error 'ner'"),
        ({"types": ["PER"]}, UnknownNameError, "unknown type 'PER'.*LOC"),
        ({"documents": ["e"]}, UnknownNameError, "unknown document"),
        ({"only": ["me"]}, UnknownNameError, "unknown system"),
        ({"flips": ("run0", "me")}, UnknownNameError, "unknown system"),
        ({"flips": ("run0", "run0")}, UsageError, "against itself"),
        ({"entities": ["Q9"]}, UsageError, "linked to Q9"),
        ({"view": "mention", "errors": ["ner-fn"]}, UsageError, "need a view with links"),
        ({"settings": {"task": "c2kb"}}, UsageError, "no individual mentions"),
    ],
)
def test_what_no_case_can_have_is_refused(asked, error, description):
    with pytest.raises(error, match=description):
        shown((Prediction(0, 6, "Q64"),), **asked)


def test_results_have_no_cases():
    corpus, (run,) = sides((Prediction(0, 6, "Q64"),))
    stored = karat.Result.from_json(karat.evaluate(corpus, run).to_json())
    with pytest.raises(UsageError, match="result files contain no cases"):
        karat.find_cases(None, [stored])


@given(strategies.pairs())
def test_cases_are_the_verdicts_and_nothing_else(pair):
    """Merging loses no verdict and makes none: outcomes, predictions and mentions are those of the table."""
    corpus, run = pair
    found = karat.find_cases(corpus, [run])
    table = karat.evaluate(corpus, run, measures=["strong:micro.f1"]).verdicts.to_pylist()
    rows = [row for row in table if row["view"] == "strong"]
    assert Counter(own.outcome for case in found for own in case.systems) == Counter(row["outcome"] for row in rows)
    assert found.outcomes[run.name] == dict(Counter(row["outcome"] for row in rows))
    predictions = [
        (case.document, own.prediction.start, own.prediction.end, own.prediction.entity)
        for case in found
        for own in case.systems
        if own.prediction is not None
    ]
    said = [
        (row["document"], row["prediction_start"], row["prediction_end"], row["prediction_entity"])
        for row in rows
        if row["prediction"] is not None
    ]
    assert Counter(predictions) == Counter(said)
    texts = {document.id: document.text for document in corpus}
    for case in found:
        own = case.sentence
        assert own.text[own.start : own.end] == texts[case.document][case.start : case.end]


def test_flips_are_those_of_compare():
    gold = karat.load("demo")
    runs = [karat.load_run(f"demo/{name}", corpus=gold) for name in ("prior", "noisy")]
    (flips,) = karat.compare(gold, runs, resamples=10, permutations=19).flips
    assert len(karat.find_cases(gold, runs, flips=("prior", "noisy"))) == flips.only_a + flips.only_b
    only = karat.find_cases(gold, runs, flips=("prior", "noisy"), only=["prior"], outcomes=["correct"])
    assert len(only) == flips.only_b, "noisy comes first in compare"
