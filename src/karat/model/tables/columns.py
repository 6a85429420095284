"""Labels and predictions of all documents as flat columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.model.reader_categories import METONYMIC
from karat.model.tables.arrow import Arrow

Ints: TypeAlias = NDArray[np.int32]
"""An array of 32-bit integers."""
Longs: TypeAlias = NDArray[np.int64]
"""An array of 64-bit integers."""
Floats: TypeAlias = NDArray[np.float64]
"""An array of 64-bit floats."""
Bools: TypeAlias = NDArray[np.bool_]
"""An array of booleans."""

NIL = -1
"""The entity code of NIL."""

NO_LINK = -2
"""The entity code of an unlinked span."""


class Mentions(msgspec.Struct, frozen=True):
    """The labels or predictions of all documents, in document order, one per row."""

    offsets: Longs
    """Document d has the rows from `offsets[d]` up to `offsets[d + 1]`."""
    document: Ints
    """The document of each row."""
    start: Ints
    """The start of each span."""
    end: Ints
    """The end of each span."""
    entity: Ints
    """The code of each entity in `names`, or `NIL` or `NO_LINK`."""
    names: Arrow
    """The entity id of each code."""
    values: Arrow
    """All fields as an Arrow struct array."""

    def __len__(self) -> int:
        return len(self.start)

    def field(self, name: str) -> Arrow | None:
        """Return the Arrow array of a field such as `kind`; None if there is no such field or no row has a value."""
        index = self.values.type.get_field_index(name)
        if index < 0:
            return None
        column = self.values.field(index)
        return None if column.null_count == len(column) else column

    def boolean_field(self, name: str) -> Bools:
        """Return a boolean field, such as `optional`, as a mask; false where missing."""
        column = self.field(name)
        if column is None:
            return np.zeros(len(self), np.bool_)
        return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)

    def score(self) -> Floats:
        """Return the score of each row, NaN where missing."""
        column = self.field("score")
        if column is None:
            return np.full(len(self), np.nan)
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)

    def select(self, mask: Bools) -> Mentions:
        """Return the rows for which `mask` is true; the documents stay the same, even if they become empty."""
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

    def entity_ids(self, rows: NDArray[Any]) -> Arrow:
        """Return the entity ids of some rows as Arrow strings, null where NIL or unlinked."""
        codes = self.entity[rows]
        return self.names.take(pa.array(codes, mask=codes < 0))


def flatten_mentions(column: Arrow) -> Mentions:
    """Return the labels or predictions in a column of lists, one list per document, as flat columns.

    `column` is a chunked Arrow array of lists of structs; it is not copied if it has a single chunk.
    """
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


class MentionIndex(msgspec.Struct, frozen=True):
    """The mention that each gold label belongs to, by row."""

    mention: Longs
    """The row of the label that represents the mention: the first literal one by (start, end, id)."""
    parent: Longs
    """The row that represents the mention it is part of, or -1."""
    optional: Bools
    """Whether all alternatives of the mention are optional."""

    @property
    def is_representative(self) -> Bools:
        """A mask of the labels that represent a mention, one per mention; false for parts of another segmentation."""
        mask: Bools = (self.mention == np.arange(len(self.mention))) & (self.parent < 0)
        return mask

    def regroup(self, alternatives: str, labels: Mentions) -> MentionIndex:
        """Return how labels form mentions under a value of the setting `alternatives`.

        `grouped` keeps this index. `separate` makes each label a mention, `merged` all labels of a span; then no
        mention is part of another. `labels` are the labels of the index, with resolved entities.
        """
        group_labels = GROUPING_FUNCTIONS[alternatives]
        return (
            self
            if group_labels is None
            else MentionIndex(group_labels(labels), _no_parents(len(labels)), self.optional)
        )


def _no_parents(count: int) -> Longs:
    """Return an array of `count` times -1, in constant memory; it is read-only."""
    return np.broadcast_to(np.int64(-1), count)


def position_keys(names: Arrow, entity: Ints, end: Ints, start: Ints) -> tuple[Longs, Ints, Ints]:
    """Return the keys with which `np.lexsort` sorts items by start, then end, then entity id, in any file order.

    `names` are the entity ids by code. NIL and unlinked spans sort before all ids.
    """
    rank = np.empty(len(names) + 2, np.int64)
    rank[pc.array_sort_indices(names).to_numpy()] = np.arange(len(names))
    rank[[NO_LINK, NIL]] = [-2, -1]
    return rank[entity], end, start


def group_by_span(labels: Mentions) -> Longs:
    """Return for each label the row of the label with the same document and span whose entity id sorts first."""
    order = np.lexsort((*position_keys(labels.names, labels.entity, labels.end, labels.start), labels.document))
    spans = np.column_stack([labels.document, labels.start, labels.end])[order]
    is_new_span = (
        np.concatenate([[True], (spans[1:] != spans[:-1]).any(axis=1)]) if len(order) else np.zeros(0, np.bool_)
    )
    mention = np.empty(len(order), np.int64)
    mention[order] = order[is_new_span][np.cumsum(is_new_span) - 1]
    return mention


GROUPING_FUNCTIONS: dict[str, Callable[[Mentions], Longs] | None] = {
    "grouped": None,
    "separate": lambda labels: np.arange(len(labels), dtype=np.int64),
    "merged": group_by_span,
}
"""The function that groups labels into mentions for each value of `alternatives`; None keeps the mention ids."""


def mask_category(mentions: Mentions, category: str) -> Bools:
    """Return the mask of the labels or predictions that have a category in the file."""
    mask = np.zeros(len(mentions), np.bool_)
    lists = mentions.field("categories")
    if lists is not None:
        owner = np.repeat(np.arange(len(mask)), lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
        mask[owner[pc.equal(lists.flatten(), category).to_numpy(zero_copy_only=False)]] = True
    return mask


def index_mentions(labels: Mentions) -> MentionIndex:
    """Return the mention and the parent mention of each label, from its `mention_id` and `parent`.

    Labels of a document with the same `mention_id` are one mention, a label without is a mention of its own. A parent
    that does not exist is -1; `check_parents` reports it.
    """
    rows = np.arange(len(labels), dtype=np.int64)
    optional = labels.boolean_field("optional")
    mention_ids = labels.field("mention_id")
    no_parents = _no_parents(len(labels))
    if mention_ids is None:
        return MentionIndex(rows, no_parents, optional)
    codes = np.asarray(mention_ids.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    dictionary = mention_ids.dictionary_encode().dictionary
    key = (labels.document.astype(np.int64) << 32) | codes
    rows_with_id = np.flatnonzero(codes >= 0)
    keys, first = np.unique(key[rows_with_id], return_index=True)
    if len(keys) < len(rows_with_id):
        position = position_keys(
            labels.names, labels.entity[rows_with_id], labels.end[rows_with_id], labels.start[rows_with_id]
        )
        is_metonymic = mask_category(labels, METONYMIC)[rows_with_id]
        order = np.lexsort((position[0], is_metonymic, *position[1:], key[rows_with_id]))
        first = order[np.searchsorted(key[rows_with_id][order], keys)]
    mention = rows.copy()
    mention[rows_with_id] = rows_with_id[first][np.searchsorted(keys, key[rows_with_id])]
    all_optional = np.ones(len(labels), np.bool_)
    np.logical_and.at(all_optional, mention, optional)
    parent = no_parents
    parent_ids = labels.field("parent")
    if parent_ids is not None:
        parent_codes = pc.index_in(parent_ids, dictionary).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        children = np.flatnonzero(parent_ids.is_valid().to_numpy(zero_copy_only=False))
        parent_keys = (labels.document[children].astype(np.int64) << 32) | parent_codes[children]
        position = np.minimum(np.searchsorted(keys, parent_keys), max(len(keys) - 1, 0))
        has_parent = (parent_codes[children] >= 0) & (keys[position] == parent_keys)
        parent = no_parents.copy()
        parent[children[has_parent]] = rows_with_id[first][position[has_parent]]
    return MentionIndex(mention, parent, all_optional[mention])
