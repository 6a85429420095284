"""Confidence intervals by drawing documents anew: what the scores of similar corpora would be.

The percentile bootstrap; Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from karat.errors import UsageError
from karat.model.columns import Floats, Longs
from karat.model.statistics import ratio

_CELLS: Final = 1 << 21
"""How many counts are held at once, 8 bytes each."""

_DRAWS: Final = 12
"""One binomial draw costs about as much as drawing this many documents one by one."""


class Interval(NamedTuple):
    """The ends of an interval; both belong to it."""

    low: float
    high: float


def resampled_totals(weights: Floats, resamples: int, seed: int) -> Floats:
    """Sums of statistics over as many documents as there are, drawn with replacement: one row per resample.

    `weights` has one row per document and any columns that add; what is to be compared on the same draws, such as two
    systems, stands side by side. The order of documents does not matter. Without documents all sums are 0.
    """
    if resamples < 1:
        raise UsageError(f"resamples is {resamples}. Give a number of at least 1.")
    totals = np.zeros((resamples, weights.shape[1]))
    if not len(weights):
        return totals
    rows, count = _distinct(weights)
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // len(rows))
    for start in range(0, resamples, step):
        block = totals[start : start + step]
        block[:] = _drawn(rng, count, len(block)).astype(np.float64) @ rows
    return totals


def resampled_means(values: Floats, resamples: int, seed: int) -> Floats:
    """Means of values over documents drawn with replacement: one per resample.

    NaN is undefined and left out: a resample's mean is over those of its documents that have a value, and NaN if none
    of them has.
    """
    defined = ~np.isnan(values)
    totals = resampled_totals(np.column_stack([np.where(defined, values, 0.0), defined]), resamples, seed)
    return ratio(totals[:, 0], totals[:, 1])


def interval(values: Floats, level: float = 0.95) -> Interval | None:
    """The middle part of resampled values that holds a share `level` of them; None if all are NaN.

    Resamples whose value is undefined (NaN) are left out.
    """
    if not 0 < level < 1:
        raise UsageError(f"level is {level}. Give a share between 0 and 1, such as 0.95.")
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def _distinct(weights: Floats) -> tuple[Floats, Longs]:
    """The distinct rows in a fixed order, and how many documents have each."""
    # Several times faster than np.unique(axis=0), which compares rows as opaque records.
    rows = weights[np.lexsort(weights.T)]
    first = np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)])
    return rows[first], np.diff(np.append(np.flatnonzero(first), len(rows)))


def _drawn(rng: np.random.Generator, count: Longs, resamples: int) -> Longs:
    """How often each distinct row is drawn in each resample.

    Documents with equal rows are exchangeable, so their number is multinomial: with few distinct rows a resample of a
    large corpus costs next to nothing. With many, drawing documents one by one is faster.
    """
    documents = int(count.sum())
    if len(count) * _DRAWS < documents:
        return rng.multinomial(documents, count / documents, size=resamples)
    row = np.repeat(np.arange(len(count)), count)
    drawn = np.empty((resamples, len(count)), np.int64)
    for one in drawn:
        one[:] = np.bincount(row[rng.integers(documents, size=documents)], minlength=len(count))
    return drawn
