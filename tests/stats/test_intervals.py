"""Intervals cover what they promise, whatever the order of documents."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.errors import UnknownNameError, UsageError
from karat.stats.samples.additive import AdditiveScore, make_difference, make_mean_score, resample_scores
from karat.stats.samples.bootstrap import percentile_interval
from karat.stats.samples.confidence_intervals import (
    acceleration,
    bca_interval,
    bootstrap_intervals,
    count_contributing,
    expand_confidence,
)
from tests.stats.corpora import Kind, drawn, f1_of, macro, micro, two_systems
from tests.stats.test_additive import FRACTIONS, WEIGHTS, shuffled

LARGE = 400_000


def coverage(scores, truths, *, corpora, method, resamples=1000):
    """The share of corpora whose intervals hold the true scores; `scores` makes them from a generator."""
    hits = np.zeros(len(truths))
    for seed in range(corpora):
        found = bootstrap_intervals(scores(np.random.default_rng(seed)), resamples=resamples, seed=seed, method=method)
        hits += [low <= truth <= high for (low, high), truth in zip(found, truths, strict=True)]
    return hits / corpora


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.extras  # it takes long
def test_95_percent_intervals_cover_between_93_and_97_percent(method):
    """50 documents of about 11 mentions: micro, macro, and the difference of two systems."""
    many = two_systems(np.random.default_rng(99), LARGE, better=0.05)
    truths = [micro(many[0]).value, macro(many[0]).value, micro(many[1]).value - micro(many[0]).value]

    def scores(rng):
        one, two = two_systems(rng, 50, better=0.05)
        return [micro(one), macro(one), make_difference(micro(two), micro(one))]

    found = coverage(scores, truths, corpora=600, method=method)
    assert np.all((found >= 0.93) & (found <= 0.97)), found


@pytest.mark.extras
@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("documents", [20, 100])
def test_coverage_on_many_kinds_of_corpora(documents, method):
    """On the mean over kinds of corpora; skewed ones alone may fall to 90 % with 20 documents."""
    found = []
    for kind in (Kind(), Kind(right=20, wrong=1), Kind(right=1, wrong=6), Kind(right=0.5, wrong=0.5), Kind(mentions=1)):
        many = drawn(np.random.default_rng(99), LARGE, kind)
        truths = [micro(many).value, macro(many).value]
        scores = lambda rng, kind=kind: [micro(each := drawn(rng, documents, kind)), macro(each)]  # noqa: E731
        found.append(coverage(scores, truths, corpora=400, method=method))
    assert 0.93 <= np.mean(found) <= 0.97, found
    assert np.min(found) >= 0.9, found


@given(WEIGHTS | FRACTIONS, st.randoms(), st.sampled_from(["percentile", "bca"]))
def test_no_order_of_documents_changes_an_interval(weights, rng, method):
    one = bootstrap_intervals([micro(weights), macro(weights)], resamples=50, method=method)
    two = bootstrap_intervals([micro(each := shuffled(weights, rng)), macro(each)], resamples=50, method=method)
    assert one == two


@given(WEIGHTS | FRACTIONS)
def test_bca_is_what_the_book_says_document_by_document(weights):
    """The formula of Efron and Tibshirani, 14.9 to 14.15, without taking equal documents together."""
    score = micro(weights)
    values = resample_scores([score], 200, 1)[0]
    found = bca_interval(values, score.value, *score.leave_one_out(), 0.9)
    values = values[~np.isnan(values)]
    if not len(values) or np.isnan(score.value):
        assert found is None
        return
    near = 1e-12 * max(1, abs(score.value))
    below = np.mean((values < score.value - near) + 0.5 * (np.abs(values - score.value) <= near))
    normal = NormalDist()
    bias = normal.inv_cdf(min(max(below, 0.5 / len(values)), 1 - 0.5 / len(values)))
    left = np.array([f1_of(np.delete(weights, k, axis=0).sum(axis=0)[None])[0] for k in range(len(weights))])
    left = left[~np.isnan(left)]
    away = left.mean() - left if len(left) else np.zeros(1)
    constant = np.allclose(away, 0, atol=1e-9)
    skew = 0.0 if constant else (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    assert acceleration(*score.leave_one_out()) == pytest.approx(skew, abs=1e-5)
    for end, share in zip(found, (0.05, 0.95), strict=True):
        z = normal.inv_cdf(share)
        moved = normal.cdf(bias + (bias + z) / (1 - skew * (bias + z)))
        assert end == pytest.approx(np.quantile(values, moved), abs=2e-3)


@pytest.mark.extras
def test_bca_is_near_that_of_scipy():
    from scipy.stats import bootstrap

    values = np.random.default_rng(3).exponential(size=40)
    theirs = bootstrap((values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(0))
    score = make_mean_score(values)
    ours = bca_interval(resample_scores([score], 20_000, 0)[0], score.value, *score.leave_one_out())
    assert ours == pytest.approx(tuple(theirs.confidence_interval), rel=0.01)


def test_without_bias_and_skewness_bca_is_the_percentile_interval():
    values = np.linspace(-1, 1, 1001)
    assert bca_interval(values, 0.0, np.array([-0.1, 0.1]), np.array([5, 5]), 0.9) == pytest.approx(
        percentile_interval(values, 0.9)
    )
    assert bca_interval(np.full(5, np.nan), 0.0, np.zeros(1), np.ones(1, np.int64)) is None
    assert bca_interval(values, np.nan, np.zeros(1), np.ones(1, np.int64)) is None


def test_bca_of_a_score_beside_all_samples_has_ends():
    values = np.linspace(0, 1, 100)
    low, high = bca_interval(values, 2.0, np.array([0.0, 1.0]), np.array([1, 1]))
    assert 0 <= low <= high <= 1


def test_few_documents_make_intervals_wider():
    """By hand for 20 documents: t 2.093 times the root of 20/19 is 2.147, which leaves 1.59 % on each side."""
    assert expand_confidence(0.95, 20) == pytest.approx(1 - 2 * 0.0159, abs=2e-4)
    assert expand_confidence(0.95, 100_000) == pytest.approx(0.95, abs=1e-4)
    assert expand_confidence(0.95, 1) is None
    assert expand_confidence(0.95, 2) < 1
    levels = [expand_confidence(0.95, documents) for documents in range(2, 50)]
    assert levels == sorted(levels, reverse=True)


def test_documents_that_add_nothing_do_not_make_it_narrower():
    values = np.array([0.2, 0.4, 0.9, 0.5])
    assert count_contributing(AdditiveScore(values[:, None], lambda sums: sums[:, 0], n_empty_documents=500)) == 4
    assert count_contributing(make_mean_score(np.append(values, [np.nan] * 9))) == 4


def test_one_document_has_no_interval():
    assert bootstrap_intervals([micro(np.array([[3.0, 1.0, 3.0, 2.0]]))]) == [None]


def test_what_makes_no_sense_is_refused():
    score = make_mean_score(np.arange(5.0))
    with pytest.raises(UsageError, match="confidence is 95"):
        bootstrap_intervals([score], confidence=95)
    with pytest.raises(UnknownNameError, match="unknown method"):
        bootstrap_intervals([score], method="wilson")
