"""Many runs judged together get, each, what it gets alone: the same number, the same reason, the same error."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat import (
    Corpus,
    Document,
    InputError,
    KaratError,
    Label,
    Prediction,
    Response,
    Run,
    Tag,
    evaluate,
    evaluate_runs,
)
from karat.model.errors import UnknownNameError, UsageError
from karat.model.registry import list_plugins
from tests.conftest import with_settings
from tests.strategies import pairs, predictions

SETTINGS = (
    {},
    {"match": "strong,weak,mention,entity"},
    {"match": "muc,partial,partial-overlap"},
    {"measures": ["strong:micro.f1", "strong:macro.f1", "weak:micro.p", "strong[nil]:micro.f1", "strong:accuracy"]},
    {"measures": ["strong+parent=0.5:micro.f1", "weak:macro-f1"]},
    {"threshold": ">=0.5"},
    {"threshold": "sweep"},
    {"measures": ["entity:map", "strong:micro.f1"]},
)


@st.composite
def several(draw):
    """A corpus and some runs on it, with fields of their own."""
    corpus, run = draw(pairs(families=True, max_documents=3))
    documents = list(corpus)
    others = [
        Run.from_responses(
            [
                Response(document.id, draw(predictions(len(document.text), plain=False)))
                for document in documents
                if draw(st.integers(0, 3))
            ]
            or [Response(documents[0].id)],
            name=f"run {number}",
        )
        for number in range(draw(st.integers(0, 3)))
    ]
    return corpus, [run, *others]


def _told(ask):
    try:
        return ask()
    except KaratError as problem:
        return type(problem), str(problem)


@settings(deadline=None, max_examples=25)
@pytest.mark.parametrize("profile", list_plugins("profiles"))
@given(data=several(), setting=st.sampled_from(SETTINGS))
def test_together_as_alone(data, setting, profile):
    corpus, runs = data
    alone = _told(lambda: [evaluate(corpus, run, profile=profile, **with_settings(setting)) for run in runs])
    together = _told(lambda: evaluate_runs(corpus, runs, profile=profile, **with_settings(setting)))
    if isinstance(alone, tuple):
        assert together == alone
        return
    for one, other, run in zip(alone, together, runs, strict=True):
        assert {name: one.score(name) for name in other} == dict(other.scores)
        assert set(one.table_measures) <= {*other}
        assert other.run is run or other.run.digest == run.digest
        assert other.signature == one.signature


def _run(document: str, start: int = 0) -> Run:
    return Run.from_responses([Response(document, (Prediction(start, 4, "Q1"),))], name=f"{document} {start}")


def test_each_opens_into_its_result():
    corpus = Corpus.from_documents([Document("d", "Rome or Bonn", (Label(0, 4, "Q1"),))])
    right, wrong = evaluate_runs(corpus, [_run("d"), _run("d", 1)], measures="strong:micro.f1")
    assert (right["strong:micro.f1"], wrong["strong:micro.f1"]) == (1.0, 0.0)
    assert wrong.result.run == "d 1"
    assert wrong.result.verdicts.num_rows == 2
    with pytest.raises(UnknownNameError, match="weak"):
        wrong["weak:micro.f1"]


def _alike(corpus, runs, **asked):
    """Each run gets the same alone and among the others: a score, or an error."""
    alone = [
        _told(lambda run=run: dict(evaluate_runs(corpus, [run], **with_settings(asked))[0].scores)) for run in runs
    ]
    if any(isinstance(each, tuple) for each in alone):
        first = next(each for each in alone if isinstance(each, tuple))
        assert _told(lambda: evaluate_runs(corpus, runs, **with_settings(asked))) == first
        return alone
    assert [dict(each.scores) for each in evaluate_runs(corpus, runs, **with_settings(asked))] == alone
    return alone


def test_what_one_run_carries_says_nothing_of_another():
    labels = (Label(0, 4, "Q1", types=("PER",)), Label(8, 12, "Q2", categories=("form:Alias",)))
    corpus = Corpus.from_documents([Document("d", "Rome or Bonn", labels)])
    plain = Run.from_responses([Response("d", (Prediction(0, 4, "Q1"), Prediction(8, 12, "Q2")))], name="plain")
    typed = Run.from_responses(
        [Response("d", (Prediction(0, 4, "Q1", types=("ORG",)), Prediction(8, 12, None, nil_cluster="x")))],
        name="typed",
    )
    tagged = Run.from_responses([Response("d", tags=(Tag("Q1"),))], name="tagged")
    _alike(corpus, [tagged, plain, plain, tagged], task="c2kb")
    for view in (
        "strong[types=PER]",
        "strong[types=ORG]",
        "strong[nil-cluster=x]",
        "strong[form=Alias]",
        "strong[doc=d]",
    ):
        for task in ("a2kb", "d2kb"):
            _alike(corpus, [typed, plain, typed, plain], task=task, measures=f"{view}:micro.f1")
    _alike(corpus, [plain, plain], measures="strong[doc=0/d]:micro.f1")
    found = _alike(corpus, [plain, typed, plain], measures=["strong[nil]:micro.f1", "strong[in-kb]:macro.f1"])
    assert found[0] == found[2] != found[1]


def test_runs_may_be_any_iterable_and_the_first_error_is_told_first():
    corpus = Corpus.from_documents([Document("d", "Rome or Bonn", (Label(0, 4, "Q1"),))])
    assert len(evaluate_runs(corpus, (_run("d") for _ in range(3)))) == 3
    far = Run.from_responses([Response("d", (Prediction(0, 99, "Q1", types=("PER",)),))], name="far")
    with pytest.raises(InputError, match="99"):
        evaluate_runs(corpus, [_run("d"), far, _run("elsewhere")])


def test_what_does_not_fit_is_refused_in_its_own_words():
    corpus = Corpus.from_documents([Document("d", "Rome or Bonn", (Label(0, 4, "Q1"),))])
    with pytest.raises(InputError, match="elsewhere") as problem:
        evaluate_runs(corpus, [_run("d"), _run("elsewhere")])
    assert "/elsewhere" not in str(problem.value)
    allowed = evaluate_runs(corpus, [_run("d"), _run("elsewhere")], allow_unknown=True)
    assert [found["strong:micro.f1"] for found in allowed] == [1.0, 0.0]
    with pytest.raises(UsageError, match="is a corpus, not a run"):
        evaluate_runs(corpus, [corpus])
    assert evaluate_runs(corpus, []) == []
