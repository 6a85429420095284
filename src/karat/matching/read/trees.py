"""How gold labels hang together where each alternative is a label: a mention, and what else it may be said to be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import msgspec
import numpy as np
import pyarrow.compute as pc

from karat.model.marks import NO_ROOT
from karat.model.tables.columns import Bools, Longs, Mentions, Units

_ALSO, _UNLISTED = "also-part-of:", "not-listed-by:"


class Trees(msgspec.Struct, frozen=True):
    """By row of all labels: which is below another (`child`), below which (`parent`), and the children of each.

    The further labels of a unit are children of its first. A label that is below none that could be kept is a child
    without parent: nobody speaks for it. Children may be listed by a label that is not their parent.
    """

    child: Bools
    parent: Longs
    children: Mapping[int, tuple[int, ...]]

    def below(self, row: int) -> set[int]:
        """All labels below one."""
        found: set[int] = set()
        waiting = [row]
        while waiting:
            new = set(self.children.get(waiting.pop(), ())) - found
            found |= new
            waiting.extend(new)
        return found


def trees(labels: Mentions, units: Units) -> Trees:
    """The trees of all documents."""
    rows = np.arange(len(labels))
    further = units.unit != rows
    parent = np.where(further, units.unit, units.parent)
    child = parent >= 0
    children: dict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(child).tolist():
        children[int(parent[row])].append(row)
    for row, mark in _marks(labels):
        value = mark.partition(":")[2]
        if mark.startswith(NO_ROOT):
            child[row] = True
        elif mark.startswith(_UNLISTED):
            children[int(parent[row])].remove(row)
        elif (lister := _labelled(labels, row, value)) is not None:
            children[lister].append(row)
    return Trees(child, parent, {row: tuple(dict.fromkeys(found)) for row, found in children.items()})


def _marks(labels: Mentions) -> list[tuple[int, str]]:
    """What the tree cannot say, as readers note it among the categories."""
    categories = labels.field("categories")
    if categories is None:
        return []
    owner = np.repeat(np.arange(len(labels)), categories.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
    values = categories.flatten()
    marked = np.zeros(len(values), np.bool_)
    for prefix in (*NO_ROOT, _ALSO, _UNLISTED):
        marked |= pc.starts_with(values, prefix).fill_null(False).to_numpy(zero_copy_only=False)
    places = np.flatnonzero(marked)
    return list(zip(owner[places].tolist(), values.take(places).to_pylist(), strict=True))


def _labelled(labels: Mentions, row: int, unit: str) -> int | None:
    """The label of the same document whose unit has this name."""
    names = labels.field("unit")
    document = labels.document[row]
    low, high = int(labels.offsets[document]), int(labels.offsets[document + 1])
    found = [] if names is None else names.slice(low, high - low).to_pylist()
    return low + found.index(unit) if unit in found else None
