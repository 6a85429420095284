"""Which systems differ over several datasets, by their ranks in each.

Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006: Friedman's test, whether any
system differs, and Nemenyi's, which do. Datasets are what is drawn here, not documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erf, erfc, exp, gamma, sqrt
from typing import Final, NamedTuple

import numpy as np

from karat.errors import UsageError
from karat.model.tables.columns import Floats
from karat.stats.samples.bootstrap import checked_level

_GRID: Final = np.linspace(-8.0, 8.0, 801)
"""Where the density of a range is summed up: the error is below 1e-12."""

_NEAR: Final = 1e-9
"""Ranks that differ by the critical difference but for rounding do not differ by more."""


class Friedman(NamedTuple):
    """The statistic, corrected for ties, and the chance of one as large if all systems were alike.

    The chance is that of the chi-squared distribution: with less than ten datasets it is rather too large.
    """

    statistic: float
    p: float


def ranks(values: Floats) -> Floats:
    """For each row the rank of each column: 1 is the largest value, and equal ones share the mean of their ranks."""
    above = (values[:, None, :] > values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    found: Floats = above + (equal + 1) / 2
    return found


def friedman(ranked: Floats) -> Friedman:
    """Whether any of the systems, one column each, differs over the datasets, one row each."""
    datasets, systems = ranked.shape
    _checked(systems, datasets)
    middle = (systems + 1) / 2
    # The sum of squares within a dataset is smaller where systems share ranks.
    spread = float(((ranked - middle) ** 2).sum())
    if not spread:
        return Friedman(0.0, 1.0)
    between = float(((ranked.sum(axis=0) - datasets * middle) ** 2).sum())
    statistic = (systems - 1) * between / spread
    return Friedman(statistic, chi_squared_tail(statistic, systems - 1))


def critical_difference(systems: int, datasets: int, level: float = 0.95) -> float:
    """How far mean ranks must lie apart for two systems to differ, by Nemenyi's test of all pairs together."""
    _checked(systems, datasets)
    return range_quantile(level, systems) / sqrt(2) * sqrt(systems * (systems + 1) / (6 * datasets))


def groups(means: Sequence[float], difference: float) -> list[tuple[int, ...]]:
    """The largest sets of systems whose mean ranks lie no further apart, by their places; nobody alone."""
    order = sorted(range(len(means)), key=lambda place: means[place])
    found: list[tuple[int, ...]] = []
    for first, place in enumerate(order):
        near = [other for other in order[first:] if means[other] - means[place] <= difference + _NEAR]
        if len(near) > 1 and not (found and set(near) <= set(found[-1])):
            found.append(tuple(near))
    return found


def chi_squared_tail(value: float, freedom: int) -> float:
    """The share of the chi-squared distribution above a value."""
    if value <= 0:
        return 1.0
    half = value / 2
    odd = freedom % 2 / 2
    terms = sum(float(half ** (i + odd)) / gamma(i + odd + 1) for i in range(freedom // 2))
    return min(1.0, (erfc(sqrt(half)) if odd else 0.0) + exp(-half) * terms)


def range_quantile(level: float, count: int) -> float:
    """What the range of so many independent standard normal numbers stays below with a chance of `level`."""
    checked_level(level)
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _range_share(middle, count) < level else (low, middle)
    return (low + high) / 2


def _range_share(reach: float, count: int) -> float:
    """The chance that the range is at most `reach`: the largest number lies somewhere, the others not far below."""
    density = np.exp(-(_GRID**2) / 2) / np.sqrt(2 * np.pi)
    inside = _normal(_GRID) - _normal(_GRID - reach)
    return float(count * np.trapezoid(density * inside ** (count - 1), _GRID))


def _normal(at: Floats) -> Floats:
    return np.array([(1 + erf(z / sqrt(2))) / 2 for z in at.tolist()])


def _checked(systems: int, datasets: int) -> None:
    if systems < 2 or datasets < 2:
        raise UsageError(f"ranks of {systems} systems on {datasets} datasets say nothing. Give at least two of both.")
