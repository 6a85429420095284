"""Rank tests of systems over several datasets.

Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006: Friedman's test of whether any
system differs, and Nemenyi's of which do. The sampling unit is the dataset, not the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erf, erfc, exp, gamma, sqrt
from typing import Final, NamedTuple

import numpy as np

from karat.model.errors import UsageError
from karat.model.tables.columns import Floats
from karat.stats.samples.bootstrap import check_confidence

_GRID: Final = np.linspace(-8.0, 8.0, 801)
"""The grid for integrating the density of a range; the error is below 1e-12."""

_TOLERANCE: Final = 1e-9
"""The tolerance for rank differences that equal the critical difference."""


class FriedmanResult(NamedTuple):
    """The result of Friedman's test, corrected for ties."""

    statistic: float
    """The test statistic."""
    p: float
    """The p-value of the chi-squared approximation, which is conservative for fewer than ten datasets."""


def compute_ranks(values: Floats) -> Floats:
    """Return the rank of each system (column) on each dataset (row): 1 for the largest value; ties share the mean."""
    above = (values[:, None, :] > values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    ranks: Floats = above + (equal + 1) / 2
    return ranks


def friedman(ranks: Floats) -> FriedmanResult:
    """Test whether any of the systems (columns) differs over the datasets (rows), given their ranks."""
    n_datasets, n_systems = ranks.shape
    _check_sizes(n_systems, n_datasets)
    middle = (n_systems + 1) / 2
    # The sum of squares within a dataset is smaller with ties.
    spread = float(((ranks - middle) ** 2).sum())
    if not spread:
        return FriedmanResult(0.0, 1.0)
    between = float(((ranks.sum(axis=0) - n_datasets * middle) ** 2).sum())
    statistic = (n_systems - 1) * between / spread
    return FriedmanResult(statistic, chi_squared_tail(statistic, n_systems - 1))


def critical_difference(n_systems: int, n_datasets: int, confidence: float = 0.95) -> float:
    """Return the smallest significant difference of two mean ranks in Nemenyi's test of all pairs of systems."""
    _check_sizes(n_systems, n_datasets)
    return range_quantile(confidence, n_systems) / sqrt(2) * sqrt(n_systems * (n_systems + 1) / (6 * n_datasets))


def find_rank_groups(mean_ranks: Sequence[float], max_difference: float) -> list[tuple[int, ...]]:
    """Return the maximal sets of systems whose mean ranks differ by at most `max_difference`.

    Systems are given by their index, best first. Sets of a single system or within another set are omitted.
    """
    order = sorted(range(len(mean_ranks)), key=lambda index: mean_ranks[index])
    groups: list[tuple[int, ...]] = []
    for first, index in enumerate(order):
        members = [
            other for other in order[first:] if mean_ranks[other] - mean_ranks[index] <= max_difference + _TOLERANCE
        ]
        if len(members) > 1 and not (groups and set(members) <= set(groups[-1])):
            groups.append(tuple(members))
    return groups


def chi_squared_tail(value: float, degrees_of_freedom: int) -> float:
    """Return the share of the chi-squared distribution above `value`."""
    if value <= 0:
        return 1.0
    half = value / 2
    odd = degrees_of_freedom % 2 / 2
    terms = sum(float(half ** (i + odd)) / gamma(i + odd + 1) for i in range(degrees_of_freedom // 2))
    return min(1.0, (erfc(sqrt(half)) if odd else 0.0) + exp(-half) * terms)


def range_quantile(probability: float, count: int) -> float:
    """Return the value that the range of `count` independent standard normal values stays below with `probability`."""
    check_confidence(probability)
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _range_share(middle, count) < probability else (low, middle)
    return (low + high) / 2


def _range_share(max_range: float, count: int) -> float:
    """Return the probability that the range of `count` standard normal values is at most `max_range`."""
    density = np.exp(-(_GRID**2) / 2) / np.sqrt(2 * np.pi)
    inside = _normal_cdf(_GRID) - _normal_cdf(_GRID - max_range)
    return float(count * np.trapezoid(density * inside ** (count - 1), _GRID))


def _normal_cdf(values: Floats) -> Floats:
    """Return the standard normal distribution function of each value."""
    return np.array([(1 + erf(z / sqrt(2))) / 2 for z in values.tolist()])


def _check_sizes(n_systems: int, n_datasets: int) -> None:
    """Raise `UsageError` for fewer than two systems or datasets."""
    if n_systems < 2 or n_datasets < 2:
        raise UsageError(
            f"ranks of {n_systems} systems on {n_datasets} datasets cannot be tested. Give at least two of both."
        )
