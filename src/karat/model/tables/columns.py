"""Mentions as columns: what all documents of a corpus or run marked, flattened into arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.model.tables.arrow import Arrow

Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

NIL = -1
"""The entity code of NIL."""

NO_LINK = -2
"""The entity code of a span that is marked but not linked."""


@dataclass(frozen=True, slots=True)
class Mentions:
    """Labels or answers of all documents in document order; row i is one label or one answer.

    `entity` holds codes into `names`, or `NIL`, or `NO_LINK`. Document d owns the rows from `offsets[d]` up to
    `offsets[d + 1]`. `values` keeps every other field as it was read.
    """

    offsets: Longs
    document: Ints
    start: Ints
    end: Ints
    entity: Ints
    names: Arrow
    values: Arrow

    def __len__(self) -> int:
        return len(self.start)

    def field(self, name: str) -> Arrow | None:
        """The Arrow column of a further field, or None where no row has a value."""
        index = self.values.type.get_field_index(name)
        if index < 0:
            return None
        column = self.values.field(index)
        return None if column.null_count == len(column) else column

    def flag(self, name: str) -> Bools:
        """A boolean field, false where it is not given."""
        column = self.field(name)
        if column is None:
            return np.zeros(len(self), np.bool_)
        return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)

    def score(self) -> Floats:
        """The scores, NaN where none is given."""
        column = self.field("score")
        if column is None:
            return np.full(len(self), np.nan)
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)

    def where(self, mask: Bools) -> Mentions:
        """Some of the rows."""
        rows = np.flatnonzero(mask)
        return Mentions(
            np.searchsorted(rows, self.offsets),
            self.document[rows],
            self.start[rows],
            self.end[rows],
            self.entity[rows],
            self.names,
            self.values.take(pa.array(rows)),
        )

    def linked_to(self, rows: NDArray[Any]) -> Arrow:
        """The entity ids of some rows as Arrow strings, null where NIL or not linked."""
        codes = self.entity[rows]
        return self.names.take(pa.array(codes, mask=codes < 0))


def mentions(column: Arrow) -> Mentions:
    """Flatten a column with one list of labels or answers per document."""
    lists = pa.concat_arrays(column.chunks) if column.num_chunks != 1 else column.chunk(0)
    offsets = lists.offsets.to_numpy().astype(np.int64)
    values = lists.values.slice(offsets[0], offsets[-1] - offsets[0])
    offsets = offsets - offsets[0]
    document = np.repeat(np.arange(len(lists), dtype=np.int32), np.diff(offsets))
    encoded = values.field("entity")
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    entity = np.asarray(encoded.indices.fill_null(NIL).to_numpy(zero_copy_only=False), np.int32)
    if values.type.get_field_index("linked") >= 0:
        unlinked = pc.equal(values.field("linked"), False).fill_null(False).to_numpy(zero_copy_only=False)
        entity = np.where(unlinked, np.int32(NO_LINK), entity)
    return Mentions(
        offsets=offsets,
        document=document,
        start=values.field("start").to_numpy(),
        end=values.field("end").to_numpy(),
        entity=entity,
        names=encoded.dictionary,
        values=values,
    )


@dataclass(frozen=True, slots=True)
class Units:
    """How gold labels belong together, by row.

    `unit` is the row of the label that stands for its unit, the first by (start, end, id); `parent` is the unit it is
    a part of, or -1; `optional` holds for every label of a unit whose alternatives are all optional.
    """

    unit: Longs
    parent: Longs
    optional: Bools


def _by_name(labels: Mentions) -> Longs:
    """The rank of each label's entity among all ids as written; NIL and spans without link come first."""
    rank = np.empty(len(labels.names) + 2, np.int64)
    rank[pc.array_sort_indices(labels.names).to_numpy()] = np.arange(len(labels.names))
    rank[[NO_LINK, NIL]] = [-2, -1]
    return rank[labels.entity]


def units(labels: Mentions) -> Units:
    """Resolve the names in `unit` and `parent`, which count within their document.

    Parents must exist; `karat.model.tables.check` sees to it.
    """
    rows = np.arange(len(labels), dtype=np.int64)
    optional = labels.flag("optional")
    named = labels.field("unit")
    none = np.full(len(labels), -1, np.int64)
    if named is None:
        return Units(rows, none, optional)
    codes = np.asarray(named.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    dictionary = named.dictionary_encode().dictionary
    key = (labels.document.astype(np.int64) << 32) | codes
    given = np.flatnonzero(codes >= 0)
    keys, first = np.unique(key[given], return_index=True)
    if len(keys) < len(given):
        order = np.lexsort((_by_name(labels)[given], labels.end[given], labels.start[given], key[given]))
        first = order[np.searchsorted(key[given][order], keys)]
    unit = rows.copy()
    unit[given] = given[first][np.searchsorted(keys, key[given])]
    every = np.ones(len(labels), np.bool_)
    np.logical_and.at(every, unit, optional)
    parent = none
    above = labels.field("parent")
    if above is not None:
        wanted = pc.index_in(above, dictionary).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        children = np.flatnonzero(above.is_valid().to_numpy(zero_copy_only=False))
        wanted_key = (labels.document[children].astype(np.int64) << 32) | wanted[children]
        place = np.minimum(np.searchsorted(keys, wanted_key), max(len(keys) - 1, 0))
        found = (wanted[children] >= 0) & (keys[place] == wanted_key)
        parent = none.copy()
        parent[children[found]] = given[first][place[found]]
    return Units(unit, parent, every[unit])
