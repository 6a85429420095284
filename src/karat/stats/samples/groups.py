"""Bootstrap intervals of many groups of cases at once, such as the values of a facet.

Each group has the draws that it would have alone, so its intervals are those of `bootstrap_intervals`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from karat.model.tables.columns import Floats, Longs
from karat.stats.samples.bootstrap import (
    DistinctRows,
    Interval,
    draw_document_counts,
    draw_totals,
    has_shared_draws,
    percentile_intervals,
)
from karat.stats.samples.confidence_intervals import expand_confidence

_MAX_CELLS: Final = 1 << 22
"""The number of sums held at once; more groups are resampled one after the other."""


def group_bootstrap_intervals(
    groups: Sequence[Floats],
    n_documents: int,
    measures: Sequence[Callable[[Floats], Floats]],
    *,
    resamples: int,
    seed: int,
    confidence: float,
) -> list[list[Interval | None]]:
    """Return the percentile intervals of several measures for each group; None if undefined.

    `groups` has the rows of each group, one per document with cases of the group. The other documents up to
    `n_documents` are resampled too. `measures` compute a value from each row of sums.
    """
    step = max(1, _MAX_CELLS // (resamples * max((rows.shape[1] for rows in groups), default=1)))
    if len(groups) > step:
        parts = [groups[start : start + step] for start in range(0, len(groups), step)]
        return [
            intervals
            for part in parts
            for intervals in group_bootstrap_intervals(
                part, n_documents, measures, resamples=resamples, seed=seed, confidence=confidence
            )
        ]
    levels = [expand_confidence(confidence, int(rows.any(axis=1).sum())) for rows in groups]
    indices = [index for index, level in enumerate(levels) if level is not None]
    intervals: list[list[Interval | None]] = [[None] * len(measures) for _ in groups]
    if not indices:
        return intervals
    totals = _resample_groups([groups[index] for index in indices], n_documents, resamples, seed)
    confidences = np.array([levels[index] for index in indices], np.float64)
    for column, measure in enumerate(measures):
        values = measure(totals.reshape(-1, totals.shape[-1])).reshape(len(indices), resamples)
        low, high = percentile_intervals(values, confidences)
        for index, lower, upper in zip(indices, low.tolist(), high.tolist(), strict=True):
            intervals[index][column] = None if np.isnan(lower) else Interval(lower, upper)
    return intervals


def _resample_groups(groups: Sequence[Floats], n_documents: int, resamples: int, seed: int) -> Floats:
    """Return the sums of each group over resampled documents, as groups × resamples × columns.

    Groups whose documents are drawn one by one share the draws, because these do not depend on the group.
    """
    rows, counts, distinct = _sort_groups(groups)
    ends = np.cumsum(counts)
    n_columns = rows.shape[1]
    totals = np.empty((len(groups), resamples, n_columns))
    single: list[int] = []
    for index, (start, end) in enumerate(zip(ends - counts, ends, strict=True)):
        part = slice(start, end)
        documents = _append_empty(rows[part], distinct[part], n_documents)
        if documents.is_sparse and has_shared_draws(n_documents):
            single.append(index)
        else:
            totals[index] = draw_totals(documents, resamples, seed)
    if single:
        table = np.zeros((n_documents, len(single), n_columns))
        for column, index in enumerate(single):
            table[: counts[index], column] = rows[ends[index] - counts[index] : ends[index]]
        blocks = [
            block @ table.reshape(n_documents, -1) for block in draw_document_counts(n_documents, resamples, seed)
        ]
        totals[single] = np.concatenate(blocks).reshape(resamples, len(single), n_columns).swapaxes(0, 1)
    return totals


def _sort_groups(groups: Sequence[Floats]) -> tuple[Floats, Longs, Longs]:
    """Return the rows of all groups, sorted within their group, the number of rows of each, and marks of distinct rows.

    A row is marked by 1 if it differs from the row before it in its group, else by 0.
    """
    counts = np.array([len(rows) for rows in groups], np.int64)
    rows, group = np.concatenate(groups), np.repeat(np.arange(len(groups)), counts)
    order = np.lexsort([*rows.T[::-1], group])
    rows = rows[order]
    differs = np.ones(len(rows), np.int64)
    differs[1:] = (rows[1:] != rows[:-1]).any(axis=1) | (group[1:] != group[:-1])  # the group of a row stays the same
    return rows, counts, differs


def _append_empty(rows: Floats, differs: Longs, n_documents: int) -> DistinctRows:
    """Return the distinct rows of one group, with the documents without cases as a row of zeros at the end."""
    first = np.flatnonzero(differs)
    counts = np.diff(np.append(first, len(rows)))
    if len(rows) == n_documents:
        return DistinctRows(rows[first], counts)
    zeros = np.zeros((1, rows.shape[1]))
    return DistinctRows(np.concatenate([rows[first], zeros]), np.append(counts, n_documents - len(rows)))
