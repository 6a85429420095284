"""Laws of shared verdicts: an evaluation that takes over tables of another one scores as if it had judged itself."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat import KaratError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.registry import list_plugins
from karat.model.spec.settings.settings import SETTINGS
from tests.strategies import families, pairs

OPEN_VALUES = {
    "match": ["strong", "weak,entity", "mention"],
    "threshold": ["none", "0.5", ">0.5", "oracle", "oracle-bat"],
    "prefixes": ["none", "Q1"],
    "membership": ["whole"],
    "task": ["a2kb", "d2kb", "c2kb", "erec"],
    "drop": ["none", "score<0.5"],
}
"""Values to try of settings that have countless ones, or some that need other data."""

VALUES = {name: OPEN_VALUES.get(name) or list(setting.values) for name, setting in SETTINGS.items()} | {
    "drop": OPEN_VALUES["drop"]
}


KB = InMemoryKB.from_tables(redirects=[("Q2", "Q1")])


@st.composite
def requests(draw):
    """A profile, with any of its settings overridden, and measures or facets of its own."""
    names = draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=3, unique=True))
    settings = {name: draw(st.sampled_from(VALUES[name])) for name in names}
    options = {
        "profile": draw(st.sampled_from(list_plugins("profiles"))),
        "settings": settings,
        "by": draw(st.sampled_from([(), ("nil",), ("error",)])),
        "kb": draw(st.sampled_from([None, KB])),
    }
    if "match" not in settings:
        options["measures"] = draw(
            st.sampled_from([(), ("strong:micro.f1", "strong:accuracy"), ("mention:micro.f1",), ("strong:ece",)])
        )
    return options


@st.composite
def similar_requests(draw):
    """Two or three requests that differ in one setting each."""
    base = draw(requests())
    names = draw(st.lists(st.sampled_from(sorted(VALUES.keys() - {"match"})), min_size=1, max_size=2))
    return [
        *({**base, "settings": {**base["settings"], name: draw(st.sampled_from(VALUES[name]))}} for name in names),
        base,
    ]


def result_of(evaluation):
    """Everything that an evaluation finds out, or what it says is wrong."""
    try:
        result = evaluation.result
        return result.to_json(), result.verdicts
    except KaratError as problem:
        return str(problem)


def evaluate(options, corpus, run, judged=None):
    try:
        return Evaluation.from_data(Request.from_options(**options), corpus, run, judged=judged)
    except KaratError:
        return None


def check_sharing(corpus, run, options):
    """The last request of `options` is scored alike whether or not others have been scored before."""
    alone = evaluate(options[-1], corpus, run)
    if alone is None:
        return
    judged = alone.inputs.judged.copy()
    for before in options[:-1]:
        other = evaluate(before, corpus, run, judged)
        if other is not None:
            result_of(other)
    assert result_of(evaluate(options[-1], corpus, run, judged)) == result_of(alone)


@given(pairs(), similar_requests() | st.lists(requests(), min_size=2, max_size=3))
def test_what_others_judged_changes_no_score(data, options):
    check_sharing(*data, options)


@given(families(), similar_requests() | st.lists(requests(), min_size=2, max_size=3))
def test_what_others_judged_changes_no_score_of_alternatives(data, options):
    check_sharing(*data, options)


@pytest.mark.parametrize("setting", sorted(VALUES))
def test_no_setting_takes_over_verdicts_of_another_value(setting):
    """Every value of a setting after every other value, on data in which most of them matter."""
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    run = karat.Run.from_responses(
        replace(response, predictions=(*response.predictions, *response.predictions[:1])) for response in run
    )
    judged = None
    for value in (*VALUES[setting], VALUES[setting][0]):
        options = {"settings": {setting: value}}
        shared = evaluate(options, corpus, run, judged)
        if shared is not None:
            judged = shared.inputs.judged
            assert result_of(shared) == result_of(evaluate(options, corpus, run))


@pytest.mark.parametrize("profile", list_plugins("profiles"))
def test_a_pickled_request_is_the_same_request(profile):
    request = Request.from_options(profile=profile, settings={"seed": 3}, by=["nil"], extra_measures=["strong:ece"])
    again = pickle.loads(pickle.dumps(request))
    assert again == request
    assert again.replace() == request
    assert again.replace(settings={"seed": "4"}).signature("x") != request.signature("x")
