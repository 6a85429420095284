"""How the gold labels of an ELEVANT article hang together, in Karat's units and parents.

A label that is in a tree, that shares its span with another, or whose id is not its place in the list has its id as
its unit. What a tree cannot say is a mark, which becomes a category: `also-part-of:7` where label 7 lists the label
among its children though its parent is another or none; `not-listed-by:7` where its parent does not list it;
`missing-parent:7` and `circular-parent:7` where the parent could not be kept. ELEVANT's scores depend on all four.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs

_LOST = "labels whose parent is not in the document (read as mentions of their own)"
_CIRCLE = "labels among their own parents (read as mentions of their own)"
_NO_CHILD = "children that are not in the document"


class Ties(NamedTuple):
    """By row the ids of a label's unit and parent, -1 where there is none; and marks."""

    unit: Longs
    parent: Longs
    marks: dict[int, tuple[str, ...]]


def untied(ids: Longs, offsets: Longs, start: Longs, end: Longs) -> Ties:
    """No trees yet: document d has the labels from `offsets[d]` up to `offsets[d + 1]`."""
    document = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    unit = np.where(ids == np.arange(len(ids)) - offsets[document], -1, ids)
    shared = _shared((document << 32) | start, end)
    unit[shared] = ids[shared]
    return Ties(unit, np.full(len(ids), -1, np.int64), {})


def _shared(start: Longs, end: Longs) -> Longs:
    """The rows that have a start and an end in common with another row."""
    order = np.argsort(start, kind="stable") if np.any(start[1:] < start[:-1]) else np.arange(len(start))
    near = order[_again(start[order])]  # few share even the start: only these are looked at
    spans = near[np.lexsort((end[near], start[near]))]
    rows: Longs = spans[_again(start[spans], end[spans])]
    return rows


def _again(*columns: Longs) -> Bools:
    """Which rows are in all columns the same as the row before or behind."""
    tied = np.zeros(len(columns[0]) + 1, np.bool_)
    tied[1:-1] = np.all([column[1:] == column[:-1] for column in columns], axis=0)
    return tied[1:] | tied[:-1]


def tie(
    found: Ties,
    parents: Arrow,
    children: Sequence[tuple[int, ...] | None],
    ids: Longs,
    offsets: Longs,
    skipped: Counter[str],
) -> None:
    """Fill in the trees of all documents, by the parent and the children that each label names."""
    keys = (np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) << 32) | ids
    given = parents.fill_null(-1).to_numpy()
    having = np.flatnonzero(given >= 0)
    above = np.full(len(ids), -1, np.int64)
    above[having] = _rows(keys, keys[having] - ids[having] + given[having])
    lister, listed = _children(children, keys, ids, skipped)
    circular = _circular(above)
    kept = (above >= 0) & ~circular
    members = np.concatenate([having, lister, listed, above[above >= 0]])
    found.unit[members] = ids[members]
    found.parent[kept] = given[kept]
    marks: dict[int, list[str]] = defaultdict(list)
    other = above[listed] != lister
    _mark(marks, "also-part-of", listed[other], ids[lister[other]])
    lost = having[above[having] < 0]
    _mark(marks, "missing-parent", lost, given[lost])
    _mark(marks, "circular-parent", np.flatnonzero(circular), given[circular])
    unlisted = having[(above[having] >= 0) & ~np.isin(having * len(ids) + above[having], listed * len(ids) + lister)]
    _mark(marks, "not-listed-by", unlisted, given[unlisted])
    found.marks.update((row, tuple(said)) for row, said in marks.items())
    skipped[_LOST] += len(lost)
    skipped[_CIRCLE] += int(np.sum(circular))


def _mark(marks: dict[int, list[str]], mark: str, rows: Longs, others: Longs) -> None:
    for row, other in zip(rows.tolist(), others.tolist(), strict=True):
        marks[row].append(f"{mark}:{other}")


def _rows(keys: Longs, wanted: Longs) -> Longs:
    """The rows of labels by document and id, -1 where there is none."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    rows: Longs = np.where(keys[order][place] == wanted, order[place], -1)
    return rows


def _children(
    children: Sequence[tuple[int, ...] | None], keys: Longs, ids: Longs, skipped: Counter[str]
) -> tuple[Longs, Longs]:
    """The rows of labels that list a label as a child, and the rows of these."""
    lists = {row: each for row, each in enumerate(children) if each}
    lister = np.repeat(np.array(list(lists), np.int64), [len(each) for each in lists.values()])
    named = np.array(list(chain.from_iterable(lists.values())), np.int64)
    listed = _rows(keys, keys[lister] - ids[lister] + named)
    skipped[_NO_CHILD] += int(np.sum(listed < 0))
    return lister[listed >= 0], listed[listed >= 0]


def _circular(above: Longs) -> Bools:
    """Which labels are among their own parents."""
    circle = np.zeros(len(above), np.bool_)
    climbing = np.flatnonzero(above >= 0)
    node = above.copy()
    while len(climbing):
        circle[climbing[node[climbing] == climbing]] = True
        node[climbing] = above[node[climbing]]
        climbing = climbing[(node[climbing] >= 0) & ~circle[climbing]]
        climbing = climbing[~circle[node[climbing]]]
    return circle
