"""Each system against the others: by hand, and what is drawn together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from karat.stats.samples.bootstrap import percentile_interval
from karat.stats.significance.contrast import (
    mean_differences,
    mean_over_strata,
    resample_stratum,
    subtract_mean_of_others,
)

VALUES = arrays.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(2, 5)), elements=st.floats(-5, 5))


def rate(totals):
    with np.errstate(invalid="ignore"):
        return totals[..., 0] / totals[..., 1]


def test_by_hand():
    np.testing.assert_allclose(subtract_mean_of_others(np.array([0.9, 0.5, 0.1])), [0.6, 0.0, -0.6])
    assert np.isnan(subtract_mean_of_others(np.array([[0.5]]))).all()


@given(VALUES)
def test_differences_sum_to_nothing_and_two_systems_are_opposites(values):
    found = subtract_mean_of_others(values)
    np.testing.assert_allclose(found.sum(axis=-1), 0, atol=1e-9)
    pair = subtract_mean_of_others(values[:, :2])
    np.testing.assert_allclose(pair[:, 0], values[:, 0] - values[:, 1], atol=1e-9)


def test_strata_count_alike_and_only_where_all_systems_have_a_value():
    strata = [np.array([0.2, 0.4]), np.array([0.6, np.nan]), np.array([0.4, 1.0])]
    np.testing.assert_allclose(mean_over_strata(strata), [0.3, 0.7])
    assert np.isnan(mean_over_strata(strata[1:2])).all()
    rows = [np.array([[1.0, np.nan], [1.0, 3.0]]), np.array([[3.0, 4.0], [5.0, 5.0]])]
    np.testing.assert_allclose(mean_over_strata(rows), [[3, 4], [3, 4]])


def test_a_measure_is_taken_of_the_totals_of_each_stratum():
    small, large = np.array([[1.0, 2.0], [0.0, 2.0]]), np.array([[10.0, 100.0], [30.0, 100.0]])
    np.testing.assert_allclose(mean_differences([small, large], rate), [0.15, -0.15])


def test_all_systems_are_drawn_together_and_strata_apart():
    rng = np.random.default_rng(0)
    one = rng.random((30, 1, 2)).repeat(3, axis=1)  # three systems that do the same
    totals = [resample_stratum(one, 200, seed) for seed in (0, 1)]
    assert [each.shape for each in totals] == [(200, 3, 2)] * 2
    for each in totals:
        np.testing.assert_array_equal(each[:, 0], each[:, 2])
    assert np.any(totals[0] != totals[1])
    np.testing.assert_allclose(mean_differences(totals, rate), 0, atol=1e-12)


def test_pairing_makes_the_interval_narrower():
    rng = np.random.default_rng(1)
    hard = rng.integers(0, 20, 200)  # errors that all systems make
    rows = np.stack([np.column_stack([hard + extra, np.full(200, 25)]) for extra in (0, 1)], axis=1).astype(float)
    low, high = percentile_interval(mean_differences([resample_stratum(rows, 1000, 0)], rate)[:, 1])
    assert (low, high) == pytest.approx((0.04, 0.04))
    alone = percentile_interval(rate(resample_stratum(rows, 1000, 0)[:, 1]))
    assert alone.high - alone.low > 0.03


@pytest.mark.parametrize("seed", [0, 3])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(seed):
    """Two strata of unlike size; the true difference is 0.1 in both."""
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(150):
        strata = []
        for documents in (25, 60):
            wrong = rng.random((documents, 1, 5)) < 0.5
            also = rng.random((documents, 1, 5)) < 0.2
            errors = np.concatenate([wrong, wrong | also], axis=1).sum(axis=2).astype(float)
            strata.append(np.stack([errors, np.full(errors.shape, 5.0)], axis=2))
        low, high = percentile_interval(
            mean_differences([resample_stratum(each, 200, place) for place, each in enumerate(strata)], rate)[:, 1]
        )
        held += low <= 0.1 <= high
    assert 0.87 <= held / 150 <= 0.995
