"""Every view of every run is judged once, whatever is asked of it."""

from __future__ import annotations

from collections import Counter

import pytest

import karat
from karat.analysis.comparison.api import compare, scorecard
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.plan import Plan
from karat.evaluation.request import Request
from karat.matching.facts.facts import AnnotationFacts


@pytest.fixture
def judged(monkeypatch):
    """How often each table of verdicts is made, by run, view and relation."""
    counts: Counter[tuple[int, str, str]] = Counter()
    make = Plan.judge

    def counting(self, gold, predictions, known):
        counts[id(predictions.items.names), str(self.view), self.relation.title] += 1
        return make(self, gold, predictions, known)

    monkeypatch.setattr(Plan, "judge", counting)
    return counts


@pytest.fixture
def runs():
    return [karat.load_run(f"demo/{name}") for name in ("perfect", "prior", "noisy")]


@pytest.mark.parametrize("measure", ["strong:micro.f1", "strong:accuracy", "mention:macro.f1"])
def test_compare_judges_every_view_of_every_run_once(judged, runs, measure):
    found = compare(karat.load("demo"), runs, measure=measure, by=["types", "mention-type"], resamples=20)
    list(found.mentions[0].flip_records())
    assert found.flips
    assert set(judged.values()) == {1}
    assert len(judged) == 3 * (1 if measure.startswith("mention") else 2)  # links, and what was detected


def test_compare_by_error_and_cards_judge_once(judged, runs):
    gold = karat.load("demo")
    compare(gold, runs, by=["error"], resamples=20)
    assert set(judged.values()) == {1}
    judged.clear()
    scorecard(gold, runs, resamples=20, permutations=19)
    assert set(judged.values()) == {1}


def test_an_evaluation_judges_once_whatever_is_asked(judged, runs):
    request = Request.from_options(
        by=["error", "types", "mention-type"], measures=["strong:micro.f1", "strong:accuracy"]
    )
    found = Evaluation.from_data(request, karat.load("demo"), runs[2])
    result = found.result
    assert result.verdicts.num_rows
    assert found.verdicts("strong") is found.verdicts("strong")
    assert found.categorise_cases("strong") is found.categorise_cases("strong")
    assert found.detection_verdicts("strong") is not None
    assert set(judged.values()) == {1}


def test_facts_of_the_gold_are_found_once_for_all_systems(monkeypatch, runs):
    made = []
    texts = AnnotationFacts.__dict__["texts"].func

    def counting(self):
        made.append(self)
        return texts(self)

    prop = type(AnnotationFacts.__dict__["texts"])(counting)
    prop.__set_name__(AnnotationFacts, "texts")
    monkeypatch.setattr(AnnotationFacts, "texts", prop)
    compare(karat.load("demo"), runs, by=["error"], resamples=20)
    assert len(made) == 1 + len(runs)


def test_a_system_has_one_interval_alone_and_in_any_company(runs):
    gold = karat.load("demo")
    alone = karat.evaluate(gold, runs[1], measures="strong:micro.f1", resamples=200).intervals["strong:micro.f1"]
    for company in (runs, runs[1:], [runs[2], runs[1], runs[0]]):
        score = compare(gold, company, resamples=200).datasets[0].scores["prior"]
        assert (score.low, score.high) == alone


def test_two_systems_differ_alike_in_comparison_and_card(runs):
    gold = karat.load("demo")
    (pair,) = compare(gold, runs[1:], resamples=200, permutations=500).pairs
    cards = {each.system: each for each in scorecard(gold, runs[1:], resamples=200, permutations=500).scorecards}
    own = cards[pair.system_a].differences["f1"]
    assert (own.value, own.low, own.high, own.p) == pytest.approx((pair.difference, pair.low, pair.high, pair.p))


def test_the_best_threshold_is_the_same_wherever_it_is_asked_for():
    """Macro scores over documents with something to find: similarity once forgot that, and found another threshold."""
    gold, run = karat.load("demo"), karat.load_run("demo/prior")
    settings = {"threshold": "oracle-bat", "macro": "gold-documents"}
    scored = karat.evaluate(gold, run, measures="strong:macro.f1", settings=settings).thresholds["strong"]
    other = karat.load_run("demo/noisy")
    found = karat.similarity(
        gold, [run, other], settings={"match": "strong", "macro": "gold-documents"}, best_threshold="oracle-bat"
    )
    assert found.thresholds["strong"]["prior"] == scored
