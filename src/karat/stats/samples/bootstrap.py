"""Bootstrap resampling of documents, and percentile intervals.

The percentile interval is that of Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from karat.model.errors import UsageError
from karat.model.tables.columns import Floats, Longs

_MAX_CELLS: Final = 1 << 17
"""The number of counts held at once; few enough to stay in the cache."""

_BINOMIAL_COST: Final = 12
"""The number of single draws that cost as much as one binomial draw."""

_MAX_TUPLES: Final = 128
"""The number of rows up to which tuples are counted faster than arrays."""

_MAX_SHARED_DOCUMENTS: Final = 10_000
"""The number of documents up to which all systems share the draws."""

_MAX_KEYS: Final = 1 << 20
"""The longest array for counting keys; longer key ranges are sorted instead."""


class Interval(NamedTuple):
    """A closed interval."""

    low: float
    """The lower end."""
    high: float
    """The upper end."""


class DistinctRows(NamedTuple):
    """The distinct rows of an array with one row per document, so that equal documents are resampled together."""

    rows: Floats
    """The distinct rows."""
    counts: Longs
    """The number of documents with each row."""

    @property
    def total(self) -> int:
        """The number of documents."""
        return int(self.counts.sum())

    @property
    def is_sparse(self) -> bool:
        """Whether rows repeat so rarely that drawing documents one by one is faster."""
        return len(self.counts) * _BINOMIAL_COST >= self.total


def resample_totals(weights: Floats, resamples: int, seed: int) -> Floats:
    """Return the column sums of `weights` over resampled documents, as an array of resamples × columns.

    `weights`: one row per document, with the numbers to sum. Each resample draws as many documents as there are, with
    replacement. To compare systems on the same draws, put their columns side by side. Rows are sorted first, so the
    order of documents does not change the result. Without documents all sums are 0.
    """
    return draw_totals(count_distinct_rows(weights), resamples, seed)


def draw_totals(documents: DistinctRows, resamples: int, seed: int) -> Floats:
    """Return the column sums over resampled documents, as an array of resamples × columns.

    `documents`: the distinct rows of the documents, with their counts. Raise `UsageError` if `resamples` is below 1.
    """
    if resamples < 1:
        raise UsageError(f"resamples is {resamples}. Give a number of at least 1.")
    totals = np.zeros((resamples, documents.rows.shape[1]))
    if not len(documents.rows):
        return totals
    rng = np.random.default_rng(seed)
    step = max(1, _MAX_CELLS // max(len(documents.rows), documents.total if documents.is_sparse else 0))
    for start in range(0, resamples, step):
        block = totals[start : start + step]
        block[:] = _draw_row_counts(rng, documents, len(block)).astype(np.float64) @ documents.rows
    return totals


def has_shared_draws(n_documents: int) -> bool:
    """Return whether documents are few enough to be drawn one by one for all systems, by `resample_in_order`.

    With more documents it is faster to draw documents with equal rows together, for each pair of systems.
    """
    return 0 < n_documents <= _MAX_SHARED_DOCUMENTS


def resample_in_order(weights: Floats, resamples: int, seed: int) -> Floats:
    """Return the column sums of `weights` over resampled documents, as an array of resamples × columns.

    `weights`: one row per document, in an order that all systems share. Other than in `resample_totals`, the draws
    depend on the number of documents and the seed only, so the sums of a system do not depend on other systems.
    """
    return np.concatenate([counts @ weights for counts in draw_document_counts(len(weights), resamples, seed)])


def draw_document_counts(n_documents: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield how often each document is drawn in each resample, as blocks of resamples × documents."""
    rng = np.random.default_rng(seed)
    step = max(1, _MAX_CELLS // max(1, n_documents))
    for start in range(0, resamples, step):
        yield _draw_single_documents(rng, n_documents, min(step, resamples - start)).astype(np.float64)


def draw_counts(documents: DistinctRows, resamples: int, seed: int) -> Iterator[Longs]:
    """Yield for each resample how often each distinct row is drawn, for scores that are not functions of sums."""
    rng = np.random.default_rng(seed)
    for _ in range(resamples):
        yield _draw_row_counts(rng, documents, 1)[0]


def percentile_interval(values: Floats, confidence: float = 0.95) -> Interval | None:
    """Return the interval that contains the central share `confidence` of resampled values; None if all are NaN.

    NaN values are skipped.
    """
    check_confidence(confidence)
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


def percentile_intervals(values: Floats, confidences: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the `percentile_interval` of each row of resampled values; NaN if all its values are NaN.

    `confidences` has the central share that the interval of each row contains.
    """
    ordered = np.sort(values, axis=1)  # NaN comes last
    n_defined = ordered.shape[1] - np.isnan(ordered).sum(axis=1)
    rows = np.arange(len(ordered))
    ends = []
    for share in ((1 - confidences) / 2, (1 + confidences) / 2):
        index = np.maximum(n_defined - 1, 0) * share
        below = np.floor(index).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(n_defined - 1, 0))
        low, high, weight = ordered[rows, below], ordered[rows, above], index - below
        # Rounded like np.quantile, so that one interval and many intervals are equal.
        ends.append(np.where(weight < 0.5, low + (high - low) * weight, high - (high - low) * (1 - weight)))
    return ends[0], ends[1]


def check_confidence(confidence: float) -> None:
    """Raise `UsageError` if a confidence level is not strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise UsageError(f"confidence is {confidence}. Give a number between 0 and 1, such as 0.95.")


def count_distinct_rows(weights: Floats) -> DistinctRows:
    """Return the distinct rows of `weights` in ascending order, with the number of documents that have each."""
    if 0 < len(weights) <= _MAX_TUPLES and np.isfinite(weights).all():
        counts = sorted(Counter(map(tuple, weights.tolist())).items())
        return DistinctRows(np.array([row for row, _ in counts]), np.array([count for _, count in counts]))
    return _count_packed_rows(weights) or _count_sorted_rows(weights)


def _count_packed_rows(weights: Floats) -> DistinctRows | None:
    """Return the distinct rows by encoding each row as an integer; None if values are not whole or too large for it."""
    if not weights.size or not np.isfinite(weights).all():
        return None
    low = weights.min(axis=0)
    # Columns are often equal, such as correct predictions and mentions found.
    twin = [next(i for i in range(k + 1) if np.array_equal(weights[:, i], weights[:, k])) for k in range(len(low))]
    columns = sorted(set(twin))
    sizes = (weights[:, columns].max(axis=0) - low[columns] + 1).tolist()
    if math.prod(sizes) >= 2.0**62:
        return None
    key = np.zeros(len(weights), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        number = (weights[:, column] - low[column]).astype(np.int64)
        if not np.array_equal(number + low[column], weights[:, column]):
            return None
        key = key * int(size) + number
    keys, count = _count_keys(key, math.prod(sizes))
    rows = np.empty((len(keys), len(low)))
    for column, size in zip(reversed(columns), reversed(sizes), strict=True):
        keys, number = np.divmod(keys, int(size))
        rows[:, column] = number + low[column]
    return DistinctRows(rows[:, twin], count)


def _count_keys(key: Longs, size: float) -> tuple[Longs, Longs]:
    """Return the distinct keys in ascending order and their counts; keys are at least 0 and below `size`."""
    if size > max(_MAX_KEYS, 4 * len(key)):
        return np.unique(key, return_counts=True)
    count = np.bincount(key)
    keys = np.flatnonzero(count)
    return keys, count[keys]


def _count_sorted_rows(weights: Floats) -> DistinctRows:
    """Return the distinct rows with their counts, by sorting."""
    # Several times faster than np.unique(axis=0), which compares rows as opaque records.
    rows = weights[np.lexsort(weights.T[::-1])]
    if not len(rows):
        return DistinctRows(rows, np.zeros(0, np.int64))
    first = np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)])
    return DistinctRows(rows[first], np.diff(np.append(np.flatnonzero(first), len(rows))))


def _draw_row_counts(rng: np.random.Generator, documents: DistinctRows, resamples: int) -> Longs:
    """Return how often each distinct row is drawn in each resample: resamples × rows.

    Documents with equal rows are exchangeable, so their counts are multinomial, which is fast for few distinct rows.
    With many, drawing documents one by one is faster.
    """
    count, size = documents.counts, documents.total
    if not documents.is_sparse:
        return rng.multinomial(size, count / size, size=resamples)
    drawn = _draw_single_documents(rng, size, resamples)
    return np.add.reduceat(drawn, np.cumsum(count) - count, axis=1) if len(count) < size else drawn


def _draw_single_documents(rng: np.random.Generator, n_documents: int, resamples: int) -> Longs:
    """Return how often each document is drawn in each resample: resamples × documents."""
    drawn = rng.integers(n_documents, size=(resamples, n_documents))
    drawn += n_documents * np.arange(resamples)[:, None]
    return np.bincount(drawn.reshape(-1), minlength=resamples * n_documents).reshape(resamples, n_documents)
