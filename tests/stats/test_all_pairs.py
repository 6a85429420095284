"""All pairs of systems over several strata at once."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from karat.model.errors import UsageError
from karat.stats.significance.all_pairs import mean_difference_tests
from karat.stats.significance.one_against_others import swap_test


def mean(totals):
    return totals[..., 0] / totals[..., 1]


def stratum(rng, documents, *shifts):
    """Right predictions out of ten in each document, more of them for some systems."""
    right = np.column_stack([rng.binomial(10, 0.5 + shift, documents) for shift in shifts]).astype(float)
    return np.stack([right, np.full(right.shape, 10.0)], axis=2)


def test_few_documents_by_hand():
    """The systems differ in all of ten documents: as far apart only if all coins fall alike, in 2 of 1024 ways."""
    rows = np.zeros((10, 2, 2))
    rows[:, 0, 0], rows[:, :, 1] = 1, 1
    (p,) = mean_difference_tests([rows], mean, trials=20_000, seed=1)
    assert p == pytest.approx(2 / 1024, rel=0.5)


def test_pairs_are_tested_as_one_by_one():
    rng = np.random.default_rng(5)
    strata = [stratum(rng, size, 0.0, 0.05, 0.0, -0.04) for size in (30, 12, 50)]
    found = mean_difference_tests(strata, mean, trials=4000, seed=2)
    for p, (one, two) in zip(found, combinations(range(4), 2), strict=True):
        own = swap_test([rows[:, [one, two]] for rows in strata], mean, resamples=4000, seed=9)[0]
        assert p == pytest.approx(own, abs=0.03)


def test_systems_that_are_alike():
    rng = np.random.default_rng(0)
    rows = stratum(rng, 20, 0.0)
    assert mean_difference_tests([np.repeat(rows, 3, axis=1)] * 2, mean, trials=50).tolist() == [1, 1, 1]


def test_the_order_of_documents_does_not_matter():
    rng = np.random.default_rng(4)
    strata = [stratum(rng, 25, 0.0, 0.03, 0.0), stratum(rng, 8, 0.0, 0.03, 0.1)]
    turned = [rows[rng.permutation(len(rows))] for rows in strata]
    one, two = (mean_difference_tests(each, mean, trials=500, seed=7) for each in (strata, turned))
    assert one.tolist() == two.tolist()


def test_p_values_are_uniform_under_the_null():
    """The share below any level is that level, up to 1.63 / √n (Kolmogorov and Smirnov, 1 %)."""
    rng = np.random.default_rng(11)
    p = np.sort(
        [mean_difference_tests([stratum(rng, 12, 0.0, 0.0)] * 1, mean, trials=200, seed=i)[0] for i in range(300)]
    )
    above = np.arange(1, len(p) + 1) / len(p) - p
    assert above.max() < 1.63 / len(p) ** 0.5


def test_no_trials_are_refused():
    with pytest.raises(UsageError, match="trials is 0"):
        mean_difference_tests([np.ones((2, 2, 2))], mean, trials=0)
