"""The values of a facet for each mention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.finegrained_scheme import PARENTS
from karat.model.items import CodeLists
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs

NONE = "none"
"""The value of mentions without value."""


class FacetValues(NamedTuple):
    """The values of a facet for each mention."""

    lists: CodeLists
    """The value codes of each mention."""
    names: list[str]
    """The value of each code, as users see it."""
    has_values: bool = True
    """Whether any mention has a value."""

    def mask(self, rows: Longs, value: str) -> Bools:
        """Return a mask of which of the mentions at `rows` have `value` among their values."""
        if value not in self.names:
            return np.zeros(len(rows), np.bool_)
        lists = self.lists.take(rows)
        has_value = lists.values == self.names.index(value)
        owner = np.repeat(np.arange(len(rows)), np.diff(lists.offsets))
        return np.bincount(owner[has_value], minlength=len(rows)) > 0


def single_values(codes: Arrow, names: list[str], *, has_values: bool = True) -> FacetValues:
    """Return facet values with exactly one value per mention: `names[codes[i]]` for mention i."""
    return FacetValues(CodeLists(np.arange(len(codes) + 1), np.asarray(codes, np.int32)), names, has_values)


def string_values(column: Arrow | None, count: int, prefix: str = "") -> FacetValues:
    """Return for each mention the strings in its row of `column` that start with `prefix`, without the prefix.

    `column` has a string or a list of strings for each of `count` mentions. Mentions without such a string get `NONE`,
    and so do all if `column` is None.
    """
    if column is None:
        return single_values(np.zeros(count), [NONE], has_values=False)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_list(column.type):
        owner = np.repeat(np.arange(count), column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
        values = column.flatten()
    else:
        owner = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
        values = column.drop_null()
    has_prefix = pc.starts_with(values, prefix).to_numpy(zero_copy_only=False)
    owner, values = owner[has_prefix], pc.utf8_slice_codeunits(values.filter(pa.array(has_prefix)), len(prefix))
    encoded = values.dictionary_encode()
    names = [*encoded.dictionary.to_pylist(), NONE]
    rows_without_value = np.setdiff1d(np.arange(count), owner)
    owners = np.concatenate([owner, rows_without_value])
    codes = np.concatenate([encoded.indices.to_numpy(), np.full(len(rows_without_value), len(names) - 1)])
    order = np.argsort(owners, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=count))]).astype(np.int64)
    return FacetValues(CodeLists(offsets, codes[order].astype(np.int32)), names)


def combine_values(parts: Sequence[FacetValues]) -> FacetValues:
    """Return the combined values of several facets of the same mentions, one each, joined by `+`.

    A mention without exactly one value in every part, or with `NONE` in any, gets `NONE`.
    """
    has_single_values = np.logical_and.reduce([np.diff(part.lists.offsets) == 1 for part in parts])
    columns = [np.array([*part.names, NONE])[part.lists.values[part.lists.offsets[:-1]]] for part in parts]
    joined = ["+".join(row) if NONE not in row else NONE for row in zip(*columns, strict=True)]
    values = pa.array(
        [value if is_single else NONE for value, is_single in zip(joined, has_single_values.tolist(), strict=True)],
        pa.string(),
    )
    encoded = values.dictionary_encode()
    has_values = all(part.has_values for part in parts)
    return single_values(encoded.indices.to_numpy(), encoded.dictionary.to_pylist(), has_values=has_values)


def add_inner_categories(facet_values: FacetValues, prefix: str = "") -> FacetValues:
    """Return the values with the inner categories of the fine-grained scheme added: a full name is also a proper form.

    Values are categories of the scheme without `prefix`, such as `form:`.
    """
    names = list(facet_values.names)
    inner_codes = []
    for code, name in enumerate(facet_values.names):
        node = PARENTS.get(prefix + name)
        if node is not None:
            inner = node.removeprefix(prefix)
            if inner not in names:
                names.append(inner)
            inner_codes.append((code, names.index(inner)))
    if not inner_codes:
        return facet_values
    owner = np.repeat(np.arange(len(facet_values.lists.offsets) - 1), np.diff(facet_values.lists.offsets))
    owners, values = [owner], [facet_values.lists.values]
    for code, inner_code in inner_codes:
        has_leaf = facet_values.lists.values == code
        owners.append(owner[has_leaf])
        values.append(np.full(int(has_leaf.sum()), inner_code, np.int32))
    pairs = np.unique(np.column_stack([np.concatenate(owners), np.concatenate(values)]), axis=0)
    offsets = np.searchsorted(pairs[:, 0], np.arange(len(facet_values.lists.offsets)))
    return FacetValues(CodeLists(offsets, pairs[:, 1].astype(np.int32)), names, facet_values.has_values)
