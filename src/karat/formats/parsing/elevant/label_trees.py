"""Trees of gold labels in an ELEVANT article, as `mention_id` and `parent`.

A label has its id as `mention_id` if it is in a tree, shares its span with another label, or has an id that is not its
index in the list. Four marks, which become categories, record what the two fields cannot: `also-part-of:7` if label 7
lists the label as a child although it is not the parent; `not-listed-by:7` if the parent does not list the label;
`missing-parent:7` and `circular-parent:7` if the parent had to be dropped. ELEVANT's scores depend on all four.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs

_MISSING_PARENT = "labels whose parent is not in the document (read as separate mentions)"
_CIRCULAR_PARENT = "labels among their own ancestors (read as separate mentions)"
_MISSING_CHILD = "children that are not in the document"


class LabelTrees(NamedTuple):
    """The trees of labels: the ids of mention and parent of each row, and marks for irregular parents."""

    mention_id: Longs
    """Id of the mention, -1 for none."""
    parent: Longs
    """Id of the parent, -1 for none."""
    marks: dict[int, tuple[str, ...]]
    """Marks of rows, as categories."""


def init_trees(ids: Longs, offsets: Longs, start: Longs, end: Longs) -> LabelTrees:
    """Return trees without parents and marks; document `d` has the labels from `offsets[d]` up to `offsets[d + 1]`.

    A label gets its id as `mention_id` if another label has the same span, or if the id is not the label's index.
    """
    document = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    mention_ids = np.where(ids == np.arange(len(ids)) - offsets[document], -1, ids)
    shared_rows = _find_shared_spans((document << 32) | start, end)
    mention_ids[shared_rows] = ids[shared_rows]
    return LabelTrees(mention_ids, np.full(len(ids), -1, np.int64), {})


def _find_shared_spans(start: Longs, end: Longs) -> Longs:
    """Return the rows, in no particular order, that share start and end with another row."""
    order = np.argsort(start, kind="stable") if np.any(start[1:] < start[:-1]) else np.arange(len(start))
    same_start = order[_equal_neighbour_mask(start[order])]  # few rows share even the start
    spans = same_start[np.lexsort((end[same_start], start[same_start]))]
    rows: Longs = spans[_equal_neighbour_mask(start[spans], end[spans])]
    return rows


def _equal_neighbour_mask(*columns: Longs) -> Bools:
    """Return a mask of rows that equal the previous or the next row in all columns."""
    is_equal = np.zeros(len(columns[0]) + 1, np.bool_)
    is_equal[1:-1] = np.all([column[1:] == column[:-1] for column in columns], axis=0)
    return is_equal[1:] | is_equal[:-1]


def fill_trees(
    trees: LabelTrees,
    parents: Arrow,
    children: Sequence[tuple[int, ...] | None],
    ids: Longs,
    offsets: Longs,
    skipped: Counter[str],
) -> None:
    """Enter mention ids, parents and marks into `trees`, by the parent and the children that each label names.

    `ids`, `parents` and `children` have an entry per label; document `d` has the labels from `offsets[d]` up to
    `offsets[d + 1]`. Missing or circular parents and missing children are dropped and counted in `skipped`;
    the labels that name them are kept.
    """
    keys = (np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) << 32) | ids
    parent_ids = parents.fill_null(-1).to_numpy()
    with_parent = np.flatnonzero(parent_ids >= 0)
    parent_rows = np.full(len(ids), -1, np.int64)
    parent_rows[with_parent] = _find_rows(keys, keys[with_parent] - ids[with_parent] + parent_ids[with_parent])
    listing_rows, listed_rows = _find_children(children, keys, ids, skipped)
    is_circular = _find_circular(parent_rows)
    has_valid_parent = (parent_rows >= 0) & ~is_circular
    members = np.concatenate([with_parent, listing_rows, listed_rows, parent_rows[parent_rows >= 0]])
    trees.mention_id[members] = ids[members]
    trees.parent[has_valid_parent] = parent_ids[has_valid_parent]
    marks: dict[int, list[str]] = defaultdict(list)
    is_extra = parent_rows[listed_rows] != listing_rows
    _add_marks(marks, "also-part-of", listed_rows[is_extra], ids[listing_rows[is_extra]])
    orphans = with_parent[parent_rows[with_parent] < 0]
    _add_marks(marks, "missing-parent", orphans, parent_ids[orphans])
    _add_marks(marks, "circular-parent", np.flatnonzero(is_circular), parent_ids[is_circular])
    unlisted_rows = with_parent[
        (parent_rows[with_parent] >= 0)
        & ~np.isin(with_parent * len(ids) + parent_rows[with_parent], listed_rows * len(ids) + listing_rows)
    ]
    _add_marks(marks, "not-listed-by", unlisted_rows, parent_ids[unlisted_rows])
    trees.marks.update((row, tuple(row_marks)) for row, row_marks in marks.items())
    skipped[_MISSING_PARENT] += len(orphans)
    skipped[_CIRCULAR_PARENT] += int(np.sum(is_circular))


def _add_marks(marks: dict[int, list[str]], mark: str, rows: Longs, other_ids: Longs) -> None:
    """Add the mark `MARK:ID` to each row, with the id of the other label at the same index."""
    for row, other_id in zip(rows.tolist(), other_ids.tolist(), strict=True):
        marks[row].append(f"{mark}:{other_id}")


def _find_rows(keys: Longs, queries: Longs) -> Longs:
    """Return the first row whose key equals each query; -1 if there is none.

    Keys and queries combine document number and label id.
    """
    if not len(keys):
        return np.full(len(queries), -1, np.int64)
    order = np.argsort(keys, kind="stable")
    index = np.minimum(np.searchsorted(keys[order], queries), len(keys) - 1)
    rows: Longs = np.where(keys[order][index] == queries, order[index], -1)
    return rows


def _find_children(
    children: Sequence[tuple[int, ...] | None], keys: Longs, ids: Longs, skipped: Counter[str]
) -> tuple[Longs, Longs]:
    """Return pairs of rows, as two arrays: labels that list a child, and the children.

    Children that no label of the document has are dropped and counted in `skipped`.
    """
    lists = {row: child_ids for row, child_ids in enumerate(children) if child_ids}
    listing_rows = np.repeat(np.array(list(lists), np.int64), [len(child_ids) for child_ids in lists.values()])
    named_ids = np.array(list(chain.from_iterable(lists.values())), np.int64)
    listed_rows = _find_rows(keys, keys[listing_rows] - ids[listing_rows] + named_ids)
    skipped[_MISSING_CHILD] += int(np.sum(listed_rows < 0))
    return listing_rows[listed_rows >= 0], listed_rows[listed_rows >= 0]


def _find_circular(parent_rows: Longs) -> Bools:
    """Return a mask of labels that are among their own ancestors; `parent_rows` has the parent's row, -1 for none."""
    is_circular = np.zeros(len(parent_rows), np.bool_)
    active = np.flatnonzero(parent_rows >= 0)
    node = parent_rows.copy()
    while len(active):
        is_circular[active[node[active] == active]] = True
        node[active] = parent_rows[node[active]]
        active = active[(node[active] >= 0) & ~is_circular[active]]
        active = active[~is_circular[node[active]]]
    return is_circular
