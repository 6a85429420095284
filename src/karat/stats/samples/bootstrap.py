"""Drawing documents anew: what the scores of similar corpora would be.

The percentile interval is that of Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from karat.errors import UsageError
from karat.model.statistics import ratio
from karat.model.tables.columns import Floats, Longs

_CELLS: Final = 1 << 17
"""How many counts are held at once: so few that they stay in the cache."""

_DRAWS: Final = 12
"""One binomial draw costs about as much as drawing this many documents one by one."""

_KEYS: Final = 1 << 20
"""Numbers are counted in an array if it need not be longer than this, else sorted."""


class Interval(NamedTuple):
    """The ends of an interval; both belong to it."""

    low: float
    high: float


class Distinct(NamedTuple):
    """Documents with equal rows taken together: the rows, and how many documents have each."""

    rows: Floats
    times: Longs

    @property
    def total(self) -> int:
        """How many documents there are."""
        return int(self.times.sum())

    @property
    def many(self) -> bool:
        """Whether there are so many distinct rows that it is faster to draw documents one by one."""
        return len(self.times) * _DRAWS >= self.total


def resampled_totals(weights: Floats, resamples: int, seed: int) -> Floats:
    """Sums of statistics over as many documents as there are, drawn with replacement: one row per resample.

    `weights` has one row per document and any columns that add; what is to be compared on the same draws, such as two
    systems, stands side by side. The order of documents does not matter. Without documents all sums are 0.
    """
    return drawn_totals(distinct(weights), resamples, seed)


def drawn_totals(documents: Distinct, resamples: int, seed: int) -> Floats:
    """The same for documents that are counted already; what rows add may have been replaced."""
    if resamples < 1:
        raise UsageError(f"resamples is {resamples}. Give a number of at least 1.")
    totals = np.zeros((resamples, documents.rows.shape[1]))
    if not len(documents.rows):
        return totals
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // max(len(documents.rows), documents.total if documents.many else 0))
    for start in range(0, resamples, step):
        block = totals[start : start + step]
        block[:] = _drawn(rng, documents, len(block)).astype(np.float64) @ documents.rows
    return totals


def resampled_means(values: Floats, resamples: int, seed: int) -> Floats:
    """Means of values over documents drawn with replacement: one per resample.

    NaN is undefined and left out: a resample's mean is over those of its documents that have a value, and NaN if none
    of them has.
    """
    defined = ~np.isnan(values)
    totals = resampled_totals(np.column_stack([np.where(defined, values, 0.0), defined]), resamples, seed)
    return ratio(totals[:, 0], totals[:, 1])


def draws(documents: Distinct, resamples: int, seed: int) -> Iterator[Longs]:
    """How often each row is drawn, resample by resample: for scores that have to be computed anew each time."""
    rng = np.random.default_rng(seed)
    for _ in range(resamples):
        yield _drawn(rng, documents, 1)[0]


def interval(values: Floats, level: float = 0.95) -> Interval | None:
    """The middle part of resampled values that holds a share `level` of them; None if all are NaN.

    Resamples whose value is undefined (NaN) are left out.
    """
    checked_level(level)
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def checked_level(level: float) -> None:
    """Refuse a level that is no share, such as 95."""
    if not 0 < level < 1:
        raise UsageError(f"level is {level}. Give a share between 0 and 1, such as 0.95.")


def distinct(weights: Floats) -> Distinct:
    """The distinct rows in a fixed order, and how many documents have each."""
    return _packed(weights) or _sorted(weights)


def _packed(weights: Floats) -> Distinct | None:
    """Rows of whole numbers, told apart by one number each; None where they are no such, or too large."""
    if not weights.size or not np.isfinite(weights).all():
        return None
    low = weights.min(axis=0)
    # Columns are often the same twice: right answers and mentions found.
    twin = [next(i for i in range(k + 1) if np.array_equal(weights[:, i], weights[:, k])) for k in range(len(low))]
    own = sorted(set(twin))
    sizes = (weights[:, own].max(axis=0) - low[own] + 1).tolist()
    if math.prod(sizes) >= 2.0**62:
        return None
    key = np.zeros(len(weights), np.int64)
    for place, size in zip(own, sizes, strict=True):
        number = (weights[:, place] - low[place]).astype(np.int64)
        if not np.array_equal(number + low[place], weights[:, place]):
            return None
        key = key * int(size) + number
    present, count = _counted(key, math.prod(sizes))
    rows = np.empty((len(present), len(low)))
    for place, size in zip(reversed(own), reversed(sizes), strict=True):
        present, number = np.divmod(present, int(size))
        rows[:, place] = number + low[place]
    return Distinct(rows[:, twin], count)


def _counted(key: Longs, size: float) -> tuple[Longs, Longs]:
    if size > max(_KEYS, 4 * len(key)):
        return np.unique(key, return_counts=True)
    count = np.bincount(key)
    present = np.flatnonzero(count)
    return present, count[present]


def _sorted(weights: Floats) -> Distinct:
    # Several times faster than np.unique(axis=0), which compares rows as opaque records.
    rows = weights[np.lexsort(weights.T[::-1])]
    if not len(rows):
        return Distinct(rows, np.zeros(0, np.int64))
    first = np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)])
    return Distinct(rows[first], np.diff(np.append(np.flatnonzero(first), len(rows))))


def _drawn(rng: np.random.Generator, documents: Distinct, resamples: int) -> Longs:
    """How often each distinct row is drawn in each resample.

    Documents with equal rows are exchangeable, so their number is multinomial: with few distinct rows a resample of a
    large corpus costs next to nothing. With many, drawing documents one by one is faster.
    """
    count, size = documents.times, documents.total
    if not documents.many:
        return rng.multinomial(size, count / size, size=resamples)
    row = np.repeat(np.arange(len(count)), count)
    place = row[rng.integers(size, size=(resamples, size))]
    place += len(count) * np.arange(resamples)[:, None]
    return np.bincount(place.reshape(-1), minlength=resamples * len(count)).reshape(resamples, len(count))
