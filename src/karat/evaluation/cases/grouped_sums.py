"""Sums of cases by the values of a facet, which add up over blocks.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.model.results.verdict import Verdicts
from karat.model.tables.columns import Floats, Longs
from karat.model.tables.facet_values import FacetValues


class Values(NamedTuple):
    """The values of a facet on both sides.

    Unmatched predictions count under the prediction's values, or under those of the mention they overlap; everything
    else counts under the gold values. A case with several values counts under each.
    """

    name: str
    """Name of the facet."""
    gold: FacetValues
    """Values of the gold labels."""
    predictions: FacetValues
    """Values of the predictions."""


class GroupedSums(NamedTuple):
    """The cases of a view by value and document."""

    names: list[str]
    """Values that occur."""
    document: Longs
    """Document of each row."""
    sums: NDArray[Any]
    """The sums of the four `Weights` of each row."""
    ends: Longs
    """Row after the last row of each value."""

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """First row of each value, and the row after its last."""
        ends = self.ends.tolist()
        return list(zip([0, *ends][:-1], ends, strict=True))

    def list_documents(self, name: str, n_documents: int) -> Floats:
        """Return the sums of the cases of a value with one row per document; zeros if the value does not occur."""
        rows = np.zeros((n_documents, 4))
        if name in self.names:
            low, high = self.bounds[self.names.index(name)]
            rows[self.document[low:high]] = self.sums[low:high]
        return rows


def group_cases(values: Values, cases: Sequence[Verdicts], *, by_gold: bool) -> list[GroupedSums]:
    """Sum the weights of cases by facet value and document, for each of several views; `cases` has one entry per view.

    With `by_gold`, a wrong prediction on a mention counts under the mention's values instead of its own. All views are
    grouped at once to save calls.
    """
    gold, prediction = (np.concatenate(sides) for sides in ([c.gold for c in cases], [c.prediction for c in cases]))
    weights = np.concatenate([c.weights() for c in cases])
    view = np.repeat(np.arange(len(cases)), [len(c) for c in cases])
    document = np.concatenate([c.document for c in cases]).astype(np.int64)
    to_gold, to_prediction = weights.copy(), np.zeros_like(weights)
    is_own = (gold < 0) if by_gold else np.ones(len(weights), np.bool_)
    to_prediction[is_own, 1], to_gold[is_own, 1] = weights[is_own, 1], 0
    names = sorted({*values.gold.names, *values.predictions.names})
    codes = {name: code for code, name in enumerate(names)}
    rows: list[tuple[Longs, Floats]] = []
    for side, facet_values, share in ((gold, values.gold, to_gold), (prediction, values.predictions, to_prediction)):
        counts = np.flatnonzero((side >= 0) & share.any(axis=1))
        lists = facet_values.lists.take(side[counts])
        case = np.repeat(counts, np.diff(lists.offsets))
        code = np.array([codes[name] for name in facet_values.names], np.int64)[lists.values]
        rows.append((((view[case] * len(names) + code) << 32) | document[case], share[case]))
    key, share = (np.concatenate(column) for column in zip(*rows, strict=True))
    keys, group = np.unique(key, return_inverse=True)
    sums: Floats = np.column_stack([np.bincount(group, share[:, i], len(keys)) for i in range(share.shape[1])])
    value_keys, starts = np.unique(keys >> 32, return_index=True)
    ends = np.append(starts[1:], len(keys)) if len(value_keys) else starts
    first = np.searchsorted(value_keys, np.arange(len(cases) + 1) * len(names))
    groups = []
    for low, high in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        begin_row = int(starts[low]) if low < high else 0
        end_row = int(ends[high - 1]) if low < high else 0
        group_names = [names[code] for code in (value_keys[low:high] % max(1, len(names))).tolist()]
        group_rows = slice(begin_row, end_row)
        groups.append(
            GroupedSums(group_names, keys[group_rows] & 0xFFFFFFFF, sums[group_rows], ends[low:high] - begin_row)
        )
    return groups


def join_grouped_sums(parts: Sequence[tuple[GroupedSums, Longs]]) -> GroupedSums:
    """Join the grouped sums of one view from several blocks, each with the positions of its documents in the corpus.

    A single block is returned unchanged.
    """
    if len(parts) == 1:
        return parts[0][0]
    rows_by_value: dict[str, list[tuple[Longs, NDArray[Any]]]] = {}
    for group, positions in parts:
        for name, (low, high) in zip(group.names, group.bounds, strict=True):
            rows_by_value.setdefault(name, []).append((positions[group.document[low:high]], group.sums[low:high]))
    documents, sums = [np.zeros(0, np.int64)], [np.zeros((0, 4))]
    for name in sorted(rows_by_value):
        document = np.concatenate([positions for positions, _ in rows_by_value[name]])
        order = np.argsort(document)
        documents.append(document[order])
        sums.append(np.concatenate([share for _, share in rows_by_value[name]]).astype(np.float64)[order])
    ends = np.cumsum([len(part) for part in documents[1:]], dtype=np.int64)
    return GroupedSums(sorted(rows_by_value), np.concatenate(documents), np.concatenate(sums), ends)
