"""Ranks over datasets, Friedman's and Nemenyi's tests."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from karat.model.errors import UsageError
from karat.stats.significance.friedman import (
    chi_squared_tail,
    compute_ranks,
    critical_difference,
    find_rank_groups,
    friedman,
    range_quantile,
)

DEMSAR = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}
"""Table 5a of Demšar (2006) for 0.05."""


def test_equal_values_share_the_mean_of_their_ranks():
    found = compute_ranks(np.array([[0.5, 0.9, 0.5, 0.1], [1.0, 1.0, 1.0, 1.0]]))
    assert found.tolist() == [[2.5, 1.0, 2.5, 4.0], [2.5, 2.5, 2.5, 2.5]]


@pytest.mark.parametrize(("systems", "value"), DEMSAR.items())
def test_quantiles_are_those_of_the_table(systems, value):
    assert range_quantile(0.95, systems) / 2**0.5 == pytest.approx(value, abs=0.0011)


def test_the_critical_difference_of_demsars_example():
    """Four systems on 14 datasets: 2.569 · √(4 · 5 / (6 · 14)) = 1.25."""
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


def test_friedman_by_hand():
    """Three systems in the same order on four datasets: 12 · 4 / (3 · 4) · (1 + 4 + 9 - 12) = 8, p = exp(-8 / 2)."""
    found = friedman(np.tile([1.0, 2.0, 3.0], (4, 1)))
    assert found.statistic == pytest.approx(8)
    assert found.p == pytest.approx(exp(-4))


def test_friedman_where_nobody_differs():
    assert friedman(np.full((5, 3), 2.0)) == (0.0, 1.0)
    turned = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 1.0], [3.0, 1.0, 2.0]])
    assert friedman(turned) == pytest.approx((0.0, 1.0))


def test_tails_of_chi_squared():
    """From any table: 3.841 and 5.991 leave 5 %, and 18.307 does with ten degrees."""
    assert chi_squared_tail(3.841, 1) == pytest.approx(0.05, abs=1e-4)
    assert chi_squared_tail(5.991, 2) == pytest.approx(0.05, abs=1e-4)
    assert chi_squared_tail(18.307, 10) == pytest.approx(0.05, abs=1e-4)
    assert chi_squared_tail(0.0, 5) == 1


@pytest.mark.extras
def test_all_as_scipy_has_it():
    from scipy import stats

    rng = np.random.default_rng(3)
    values = rng.integers(0, 6, (9, 5)).astype(float)
    theirs = stats.friedmanchisquare(*values.T)
    assert friedman(compute_ranks(values)) == pytest.approx((theirs.statistic, theirs.pvalue))
    for count in (2, 7, 20):
        assert range_quantile(0.9, count) == pytest.approx(stats.studentized_range.ppf(0.9, count, np.inf), abs=1e-6)


def test_groups_are_the_largest_sets_within_the_difference():
    assert find_rank_groups([2.0, 1.0, 3.0, 5.0], 1.0) == [(1, 0), (0, 2)]
    assert find_rank_groups([2.0, 1.0, 3.0, 5.0], 4.0) == [(1, 0, 2, 3)]
    assert find_rank_groups([1.0, 2.0], 0.5) == []


def test_one_dataset_or_system_ranks_nobody():
    with pytest.raises(UsageError, match="1 datasets cannot be tested"):
        critical_difference(3, 1)
    with pytest.raises(UsageError, match="1 systems"):
        friedman(np.ones((3, 1)))
