"""Plugins that break their contract on purpose: the contract tests catch each, and say why."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from karat.model.registry import get_plugin
from karat.model.results.result import Score
from karat.model.results.statistics import ratio
from karat.model.spec.format import Format, Sample
from karat.model.spec.measure import Measure
from karat.model.spec.system import System
from tests.contract import faults


def measure(**how) -> Measure:
    said = {"title": "Mine", "formula": "x / y", "undefined_case": "there are no predictions", "aggregates": ("micro",)}
    return Measure(**said | how)


def precision(s, _):
    return ratio(s.matched_predictions, s.predictions)


MEASURES = {
    "it says one thing and does another": (
        measure(undefined_case="there are no gold mentions", from_statistics=precision),
        "undefined where there are no gold mentions, and gives NaN where that is not so",
    ),
    "it has a value where it says that it has none": (
        measure(from_statistics=lambda s, _: np.nan_to_num(precision(s, _))),
        "undefined where there are no predictions, and gives a value: of matched predictions 0, unmatched "
        "predictions 0",
    ),
    "its words are its own and nothing tests them": (
        measure(undefined_case="it rains", from_statistics=precision),
        "nobody can test 'it rains'",
    ),
    "its test is not that of its values": (
        measure(undefined_case="it rains", from_statistics=precision, undefined_mask=lambda s: s.gold == 0),
        "undefined where it rains, and gives NaN",
    ),
    "it is NaN now and then": (
        measure(from_statistics=lambda s, _: np.where(s.gold > 2, np.nan, precision(s, _))),
        "gives NaN where that is not so",
    ),
    "it is more than everything": (measure(from_statistics=lambda s, _: s.predictions), "is no share"),
    "it has one value for all": (measure(from_statistics=lambda s, _: np.ones(1)), "give values of shape (1,)"),
    "a derived one is NaN": (
        measure(from_measures=lambda view: Score(math.nan, 1)),
        "gives nan of two mentions and predictions, which is no number",
    ),
    "a derived one has no reason": (
        measure(from_measures=lambda view: Score(None, 0)),
        "with the reason None: None has one",
    ),
    "a ranked one has values without gold": (
        measure(undefined_case=faults.NOTHING_TO_FIND, from_ranking=lambda ranking, k: np.zeros(ranking.n_documents)),
        "undefined where there are no gold entities, and gives [0.0, 0.0, 0.0, 0.0]",
    ),
    "one of scores is NaN without any": (
        measure(
            undefined_case="no counted prediction has a score",
            from_scores=lambda s, r: float(np.mean(s)) if len(s) else math.nan,
        ),
        "gives nan for no prediction",
    ),
    "one of scores is NaN": (
        measure(
            undefined_case="no counted prediction has a score", from_scores=lambda s, r: math.nan if len(s) else None
        ),
        "it gives nan for scores [0.5]",
    ),
    "it is made in two ways": (
        measure(from_statistics=precision, from_measures=lambda view: Score(1.0, 1)),
        "it is made in 2 of four ways",
    ),
    "it has no words": (measure(formula="", from_statistics=precision), "it has no formula"),
}


@pytest.mark.parametrize("name", MEASURES)
def test_a_broken_measure_is_caught(name):
    broken, description = MEASURES[name]
    assert description in "\n".join(faults.of_measure(broken))


def test_a_sound_measure_is_not():
    assert faults.of_measure(measure(from_statistics=precision)) == []


def a_format(**how) -> Format:
    aida = get_plugin("formats", "aida", Format)
    said = {"title": "Mine", "suffix": ".x", "recognises": aida.recognises, "has_gold": aida.has_gold}
    return Format(**said | {"read_corpus": aida.read_corpus, "sample": aida.sample} | how)


LINES = "-DOCSTART- (1 a)\nAda\tB\tAda\tU\n"
FORMATS = {
    "it has no sample": (a_format(sample=None), "it has no sample of its own"),
    "its sample is another one's": (
        a_format(sample=Sample({"x": '{"id": "a"}'}, 1, 1, "x")),
        "it does not read its own sample: ",
    ),
    "its reader drops a mention": (
        a_format(sample=Sample({"x": LINES}, 1, 2, "x")),
        "(1, 2) documents and mentions, as it says, and it reads (1, 1)",
    ),
    "its sample is empty": (
        a_format(sample=Sample({"x": "-DOCSTART- (1 a)\nAda\n"}, 1, 0, "x")),
        "its sample has nothing to score",
    ),
    "it reads nothing": (a_format(read_corpus=None), "it has a sample and reads nothing"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_broken_format_is_caught(name, tmp_path):
    broken, description = FORMATS[name]
    assert description in "\n".join(faults.of_format(broken, tmp_path))


def test_a_sound_format_is_not(tmp_path):
    assert faults.of_format(a_format(), tmp_path) == []


def a_system(**how) -> System:
    return replace(get_plugin("systems", "rel", System), **how)


def a_sample(**how):
    return replace(a_system().sample, **how)


SYSTEMS = {
    "it has no sample": (a_system(sample=None), "Add sample=SystemSample("),
    "it hides what it asks": (a_system(external_access=None), "imports karat.systems.adapters.web_service"),
    "its sample is another one's": (a_system(sample=a_sample(reply="{}")), "it does not read its own sample: REL"),
    "its sample says something else": (
        a_system(sample=a_sample(predictions=a_sample().predictions[:1])),
        "and the sample says (Prediction(",
    ),
    "its sample compares nothing": (
        a_system(sample=a_sample(predictions=(), reply="[]")),
        "its sample has no predictions",
    ),
    "its sample has no reply": (a_system(sample=a_sample(reply="")), "neither a reply nor a package"),
    "it asks somebody else": (
        a_system(
            sample=a_sample(options={"url": "http://127.0.0.1:1/", "tagger": "{url}"}),
        ),
        "it does not ask the service",
    ),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_broken_system_is_caught(name, tmp_path):
    broken, description = SYSTEMS[name]
    assert description in "\n".join(faults.of_system(broken, tmp_path))
