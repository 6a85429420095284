"""Resampling: what is drawn has the right distribution, whatever the order of documents and the way of drawing."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from karat.model.errors import UsageError
from karat.model.results.statistics import ratio
from karat.stats.samples import bootstrap
from karat.stats.samples.bootstrap import percentile_interval, resample_totals

WHOLE = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 40), st.integers(1, 4)), elements=st.integers(0, 3).map(float)
)
FEW = np.repeat([[1.0, 0.0], [0.0, 1.0], [2.0, 5.0]], [50, 30, 20], axis=0)
MANY = np.random.default_rng(7).random((100, 2))


def resample_means(values, resamples, seed):
    """Mean of the values, one per document, over resampled documents; undefined values are skipped."""
    defined = ~np.isnan(values)
    totals = resample_totals(np.column_stack([np.where(defined, values, 0.0), defined]), resamples, seed)
    return ratio(totals[:, 0], totals[:, 1])


@given(WHOLE, st.integers(0, 5), st.randoms())
def test_the_same_seed_gives_the_same_in_any_order_of_documents(weights, seed, rng):
    order = list(range(len(weights)))
    rng.shuffle(order)
    one, two = resample_totals(weights, 20, seed), resample_totals(weights[order], 20, seed)
    np.testing.assert_array_equal(one, two)
    assert one.shape == (20, weights.shape[1])


@given(WHOLE)
def test_every_resample_has_as_many_documents_as_the_corpus(weights):
    counted = np.column_stack([weights, np.ones(len(weights))])
    totals = resample_totals(counted, 20, 0)
    assert np.all(totals[:, -1] == len(weights))
    assert np.all(totals <= weights.max(initial=1) * len(weights))


@pytest.mark.parametrize("weights", [FEW, MANY], ids=["multinomial", "one by one"])
def test_totals_have_the_mean_and_the_spread_of_drawing_with_replacement(weights):
    resamples = 4000
    totals = resample_totals(weights, resamples, 0)
    spread = weights.std(axis=0) * np.sqrt(len(weights))
    assert np.all(np.abs(totals.mean(axis=0) - weights.sum(axis=0)) < 5 * spread / np.sqrt(resamples))
    np.testing.assert_allclose(totals.std(axis=0), spread, rtol=0.1)
    together = np.cov(weights.T, bias=True) * len(weights)
    np.testing.assert_allclose(np.cov(totals.T), together, atol=0.1 * spread.max() ** 2)


@pytest.mark.parametrize("weights", [FEW, MANY], ids=["multinomial", "one by one"])
def test_blocks_do_not_change_what_is_drawn(weights, monkeypatch):
    whole = resample_totals(weights, 50, 0)
    monkeypatch.setattr(bootstrap, "_MAX_CELLS", 7)
    np.testing.assert_allclose(resample_totals(weights, 50, 0), whole, rtol=1e-14)


def test_documents_that_are_all_alike_leave_nothing_to_chance():
    assert resample_totals(np.full((30, 2), 2.0), 5, 0).tolist() == [[60, 60]] * 5


def test_columns_are_drawn_together():
    totals = resample_totals(np.column_stack([MANY[:, 0], MANY[:, 0]]), 50, 0)
    np.testing.assert_array_equal(totals[:, 0], totals[:, 1])


def test_other_seeds_draw_otherwise():
    assert np.any(resample_totals(MANY, 5, 0) != resample_totals(MANY, 5, 1))


def test_a_large_corpus_takes_little_memory():
    weights = np.random.default_rng(0).random((1_200_000, 1))
    tracemalloc.start()
    totals = resample_totals(weights, 20, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * weights.nbytes / 2
    np.testing.assert_allclose(totals, weights.sum(), rtol=0.01)


def test_means_leave_out_what_is_undefined():
    values = np.array([0.25, np.nan, 0.25, np.nan])
    means = resample_means(values, 200, 0)
    assert set(means[~np.isnan(means)].tolist()) == {0.25}
    # All four draws undefined: one resample in sixteen.
    assert 0 < np.isnan(means).sum() < 50
    assert np.isnan(resample_means(np.full(3, np.nan), 5, 0)).all()


@given(arrays.arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1) | st.just(np.nan)), st.randoms())
def test_means_lie_within_the_values_in_any_order(values, rng):
    order = list(range(len(values)))
    rng.shuffle(order)
    means = resample_means(values, 20, 0)
    np.testing.assert_array_equal(means, resample_means(values[order], 20, 0))
    defined = values[~np.isnan(values)]
    known = means[~np.isnan(means)]
    assert np.all((known >= defined.min(initial=1) - 1e-12) & (known <= defined.max(initial=0) + 1e-12))


def test_the_mean_of_means_is_near_the_mean():
    values = MANY[:, 0]
    means = resample_means(values, 4000, 0)
    assert abs(means.mean() - values.mean()) < 5 * values.std() / np.sqrt(len(values) * len(means))
    low, high = percentile_interval(means)
    assert low < values.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * values.std() / np.sqrt(len(values)), rel=0.1)


def test_without_documents_sums_are_0_and_means_undefined():
    assert resample_totals(np.zeros((0, 3)), 2, 0).tolist() == [[0, 0, 0]] * 2
    means = resample_means(np.zeros(0), 2, 0)
    assert np.isnan(means).all()
    assert percentile_interval(means) is None


def test_an_interval_by_hand():
    assert percentile_interval(np.arange(101.0), 0.9) == pytest.approx((5, 95))
    assert percentile_interval(np.array([np.nan, 2.0, np.nan])) == (2, 2)
    assert percentile_interval(np.array([np.nan])) is None


@given(arrays.arrays(np.float64, st.integers(1, 30), elements=st.floats(-10, 10)), st.floats(0.01, 0.98))
def test_a_higher_level_is_no_narrower(values, level):
    inner, outer = percentile_interval(values, level), percentile_interval(values, level + 0.01)
    assert outer.low <= inner.low + 1e-9
    assert inner.low <= inner.high + 1e-9
    assert inner.high <= outer.high + 1e-9


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="resamples is 0"):
        resample_totals(FEW, 0, 0)
    for level in (0, 1, 95):
        with pytest.raises(UsageError, match=f"confidence is {level}"):
            percentile_interval(np.ones(3), level)
