"""Mentions as columns: what all documents of a corpus or run marked, flattened into arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
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


class Mentions(msgspec.Struct, frozen=True):
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


class Units(msgspec.Struct, frozen=True):
    """How gold labels belong together, by row.

    `unit` is the row of the label that stands for its unit, the first by (start, end, id); `parent` is the unit it is
    a part of, or -1; `optional` holds for every label of a unit whose alternatives are all optional.
    """

    unit: Longs
    parent: Longs
    optional: Bools

    @property
    def mentions(self) -> Bools:
        """The labels that stand for a mention, one for each; parts of another segmentation stand for none."""
        found: Bools = (self.unit == np.arange(len(self.unit))) & (self.parent < 0)
        return found

    def read_as(self, alternatives: str, labels: Mentions) -> Units:
        """Which labels belong together under a choice of `alternatives`; `labels` have their entities as they are read.

        Where units are not looked at, no mention is a part of another.
        """
        tied = MENTION_OF[alternatives]
        return self if tied is None else Units(tied(labels), _none(len(labels)), self.optional)


def _none(count: int) -> Longs:
    """No parent for any label, in the memory of one number."""
    return np.broadcast_to(np.int64(-1), count)


def by_place(names: Arrow, entity: Ints, end: Ints, start: Ints) -> tuple[Longs, Ints, Ints]:
    """What orders labels whatever the order of the file: id, end and start, of which the last goes first.

    NIL and spans without link come before all ids.
    """
    rank = np.empty(len(names) + 2, np.int64)
    rank[pc.array_sort_indices(names).to_numpy()] = np.arange(len(names))
    rank[[NO_LINK, NIL]] = [-2, -1]
    return rank[entity], end, start


def _alone(labels: Mentions) -> Longs:
    return np.arange(len(labels), dtype=np.int64)


def _on_span(labels: Mentions) -> Longs:
    """For each label the first, in the order of ids, of those that share its span."""
    order = np.lexsort((*by_place(labels.names, labels.entity, labels.end, labels.start), labels.document))
    spans = np.column_stack([labels.document, labels.start, labels.end])[order]
    new = np.concatenate([[True], (spans[1:] != spans[:-1]).any(axis=1)]) if len(order) else np.zeros(0, np.bool_)
    unit = np.empty(len(order), np.int64)
    unit[order] = order[new][np.cumsum(new) - 1]
    return unit


MENTION_OF: dict[str, Callable[[Mentions], Longs] | None] = {"unit": None, "separate": _alone, "merged": _on_span}
"""For each value of the choice `alternatives`, the row that stands for the mention of each label; None: its unit."""


def units(labels: Mentions) -> Units:
    """Resolve the names in `unit` and `parent`, which count within their document.

    Parents must exist; `karat.model.tables.check` sees to it.
    """
    rows = np.arange(len(labels), dtype=np.int64)
    optional = labels.flag("optional")
    named = labels.field("unit")
    none = _none(len(labels))
    if named is None:
        return Units(rows, none, optional)
    codes = np.asarray(named.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    dictionary = named.dictionary_encode().dictionary
    key = (labels.document.astype(np.int64) << 32) | codes
    given = np.flatnonzero(codes >= 0)
    keys, first = np.unique(key[given], return_index=True)
    if len(keys) < len(given):
        place = by_place(labels.names, labels.entity[given], labels.end[given], labels.start[given])
        order = np.lexsort((*place, key[given]))
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
