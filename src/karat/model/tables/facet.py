"""The values of a label for each of some mentions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.items import Lists
from karat.model.scheme import ABOVE
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs

NONE = "none"
"""The value of a mention that has no value."""


class Facet(NamedTuple):
    """The values of one label for each mention; `names[code]` is the value as users see it."""

    lists: Lists
    names: list[str]
    given: bool = True
    """Whether any mention has a value at all."""

    def mask(self, rows: Longs, value: str) -> Bools:
        """Which of the rows have this value."""
        if value not in self.names:
            return np.zeros(len(rows), np.bool_)
        picked = self.lists.take(rows)
        hit = picked.values == self.names.index(value)
        owner = np.repeat(np.arange(len(rows)), np.diff(picked.offsets))
        return np.bincount(owner[hit], minlength=len(rows)) > 0


def nothing(*, given: bool) -> Facet:
    """The values of no mention."""
    return Facet(Lists(np.zeros(1, np.int64), np.zeros(0, np.int32)), [], given)


def single(codes: Arrow, names: list[str], *, given: bool = True) -> Facet:
    """One value for each mention."""
    return Facet(Lists(np.arange(len(codes) + 1), np.asarray(codes, np.int32)), names, given)


def strings(column: Arrow | None, count: int, prefix: str = "") -> Facet:
    """Strings or lists of strings; those with the prefix only, and without it."""
    if column is None:
        return single(np.zeros(count), [NONE], given=False)
    if pa.types.is_list(column.type):
        owner = np.repeat(np.arange(count), column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
        values = column.flatten()
    else:
        owner = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
        values = column.drop_null()
    keep = pc.starts_with(values, prefix).to_numpy(zero_copy_only=False)
    owner, values = owner[keep], pc.utf8_slice_codeunits(values.filter(pa.array(keep)), len(prefix))
    encoded = values.dictionary_encode()
    names = [*encoded.dictionary.to_pylist(), NONE]
    bare = np.setdiff1d(np.arange(count), owner)
    owners = np.concatenate([owner, bare])
    codes = np.concatenate([encoded.indices.to_numpy(), np.full(len(bare), len(names) - 1)])
    order = np.argsort(owners, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=count))]).astype(np.int64)
    return Facet(Lists(offsets, codes[order].astype(np.int32)), names)


def combined(parts: Sequence[Facet]) -> Facet:
    """Combinations of values; a mention with several values in one part, or with none, is in no combination."""
    lone = np.logical_and.reduce([np.diff(part.lists.offsets) == 1 for part in parts])
    columns = [np.array([*part.names, NONE])[part.lists.values[part.lists.offsets[:-1]]] for part in parts]
    joined = ["+".join(row) if NONE not in row else NONE for row in zip(*columns, strict=True)]
    values = pa.array(
        [value if alone else NONE for value, alone in zip(joined, lone.tolist(), strict=True)], pa.string()
    )
    encoded = values.dictionary_encode()
    given = all(part.given for part in parts)
    return single(encoded.indices.to_numpy(), encoded.dictionary.to_pylist(), given=given)


def with_inner(found: Facet, prefix: str = "") -> Facet:
    """The same with the inner nodes of the fine-grained scheme: a full name is a proper form too."""
    names = list(found.names)
    further = []
    for code, name in enumerate(found.names):
        node = ABOVE.get(prefix + name)
        if node is not None:
            inner = node.removeprefix(prefix)
            if inner not in names:
                names.append(inner)
            further.append((code, names.index(inner)))
    if not further:
        return found
    owner = np.repeat(np.arange(len(found.lists.offsets) - 1), np.diff(found.lists.offsets))
    owners, values = [owner], [found.lists.values]
    for code, inner_code in further:
        hit = found.lists.values == code
        owners.append(owner[hit])
        values.append(np.full(int(hit.sum()), inner_code, np.int32))
    pairs = np.unique(np.column_stack([np.concatenate(owners), np.concatenate(values)]), axis=0)
    offsets = np.searchsorted(pairs[:, 0], np.arange(len(found.lists.offsets)))
    return Facet(Lists(offsets, pairs[:, 1].astype(np.int32)), names, found.given)
