"""Trees of gold labels: mentions with their alternatives and parts, for tools that judge every label."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import msgspec
import numpy as np
import pyarrow.compute as pc

from karat.model.reader_categories import MISSING_ROOT_PREFIXES
from karat.model.tables.columns import Bools, Longs, MentionIndex, Mentions

_ALSO, _UNLISTED = "also-part-of:", "not-listed-by:"


class Trees(msgspec.Struct, frozen=True):
    """Parents and children of all labels, by row.

    The further labels of a mention are children of its first label. A label whose parent is missing is a child without
    parent: no root counts for it. Children may be listed under a label that is not their parent.
    """

    child: Bools
    """Mask of the labels below another label."""
    parent: Longs
    """Row of the parent of each label; -1 if there is none."""
    children: Mapping[int, tuple[int, ...]]
    """Rows of the children of each label that has any."""

    def find_descendants(self, row: int) -> set[int]:
        """Return the rows of all labels below `row`."""
        descendants: set[int] = set()
        pending = [row]
        while pending:
            children = set(self.children.get(pending.pop(), ())) - descendants
            descendants |= children
            pending.extend(children)
        return descendants


def build_trees(labels: Mentions, mention_index: MentionIndex) -> Trees:
    """Build the trees of the labels of all documents, from parents, alternatives and categories that readers add."""
    rows = np.arange(len(labels))
    is_alternative = mention_index.mention != rows
    parent = np.where(is_alternative, mention_index.mention, mention_index.parent)
    child = parent >= 0
    children: dict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(child).tolist():
        children[int(parent[row])].append(row)
    for row, mark in _find_tree_marks(labels):
        value = mark.partition(":")[2]
        if mark.startswith(MISSING_ROOT_PREFIXES):
            child[row] = True
        elif mark.startswith(_UNLISTED):
            children[int(parent[row])].remove(row)
        elif (lister := _find_mention(labels, row, value)) is not None:
            children[lister].append(row)
    return Trees(child, parent, {row: tuple(dict.fromkeys(child_rows)) for row, child_rows in children.items()})


def _find_tree_marks(labels: Mentions) -> list[tuple[int, str]]:
    """Return (label row, category) for the categories by which readers note tree relations, such as a missing root."""
    categories = labels.field("categories")
    if categories is None:
        return []
    owner = np.repeat(np.arange(len(labels)), categories.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
    values = categories.flatten()
    marked = np.zeros(len(values), np.bool_)
    for prefix in (*MISSING_ROOT_PREFIXES, _ALSO, _UNLISTED):
        marked |= pc.starts_with(values, prefix).fill_null(False).to_numpy(zero_copy_only=False)
    positions = np.flatnonzero(marked)
    return list(zip(owner[positions].tolist(), values.take(positions).to_pylist(), strict=True))


def _find_mention(labels: Mentions, row: int, mention_id: str) -> int | None:
    """Return the row of the first label with `mention_id` in the same document as `row`, or None."""
    names = labels.field("mention_id")
    document = labels.document[row]
    low, high = int(labels.offsets[document]), int(labels.offsets[document + 1])
    mention_ids = [] if names is None else names.slice(low, high - low).to_pylist()
    return low + mention_ids.index(mention_id) if mention_id in mention_ids else None
