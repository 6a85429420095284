"""What is matched: the gold labels or the answers of some documents, side by side in arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NO_LINK, Bools, Floats, Ints, Longs


class Lists(NamedTuple):
    """A list of codes per item: item i owns `values[offsets[i]:offsets[i + 1]]`."""

    offsets: Longs
    values: Ints

    def take(self, rows: NDArray[Any]) -> Lists:
        """The lists of some items."""
        lengths = (self.offsets[1:] - self.offsets[:-1])[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths)
        return Lists(offsets, self.values[places])


class Ranked(msgspec.Struct, frozen=True, dict=True):
    """The entities that a run ranks for each of its answers, by the answer's row, looked up when somebody asks."""

    look_up: Callable[[], Lists]

    @cached_property
    def lists(self) -> Lists:
        """Codes of both sides, the best first; what neither side links to is `OTHER`."""
        return self.look_up()


OTHER = -3
"""The code of an entity that only a ranking names."""


class Items(msgspec.Struct, frozen=True):
    """One side of a match.

    `row` is the place in the corpus's labels or the run's answers. `entity` holds codes that mean the same on
    both sides (`names[code]` is the id), `NIL` or `NO_LINK`. `same_as` lists further ids of the same entity, `types`
    the types, in codes of both sides too; `cluster` tells clusters apart, those of NIL included; `words` are the spans
    widened to whole words; `kind` tells quantities and datetimes from all else, which is 0; `outside` marks what lies
    outside the evaluation span and counts only where it is matched; `candidates` are what answers rank, by row. These
    are there only where somebody looks at them. `content` gives for some rows a number each, by all else that they
    say: it decides between items that are alike in all the rest, so that no order of a file does.
    """

    row: Longs
    document: Ints
    start: Ints
    end: Ints
    entity: Ints
    names: Arrow
    same_as: Lists | None = None
    types: Lists | None = None
    cluster: Ints | None = None
    words: tuple[Ints, Ints] | None = None
    kind: Ints | None = None
    outside: Bools | None = None
    candidates: Ranked | None = None
    content: Callable[[Longs], NDArray[np.uint64]] | None = None

    def __len__(self) -> int:
        return len(self.row)

    def order(self, places: Longs, keys: Sequence[NDArray[Any]]) -> Longs:
        """The order of some items by keys, the last of which counts most; where all are equal, content decides."""
        order = np.lexsort(keys)
        if self.content is None or not _alike(keys, order).any():
            return order
        return np.lexsort((self.content(self.row[places]), *keys))

    def take(self, rows: NDArray[Any]) -> Items:
        """Some of the items, by place or by mask."""
        places = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return Items(
            self.row[places],
            self.document[places],
            self.start[places],
            self.end[places],
            self.entity[places],
            self.names,
            None if self.same_as is None else self.same_as.take(places),
            None if self.types is None else self.types.take(places),
            None if self.cluster is None else self.cluster[places],
            None if self.words is None else (self.words[0][places], self.words[1][places]),
            None if self.kind is None else self.kind[places],
            None if self.outside is None else self.outside[places],
            self.candidates,
            self.content,
        )


def _alike(keys: Sequence[NDArray[Any]], order: Longs) -> Bools:
    """Which in an order are like their neighbour."""
    alike = np.ones(max(len(order) - 1, 0), np.bool_)
    for key in keys:
        alike &= key[order[1:]] == key[order[:-1]]
    return alike


class Gold(msgspec.Struct, frozen=True, dict=True):
    """Gold labels with what ties them together; places refer to `items`.

    `unit` is the place of the first label of the unit, `parent` the unit this one is a part of, or -1. `merged`: a
    unit is what labels there are on a span, and no other.
    """

    items: Items
    unit: Longs
    parent: Longs
    optional: Bools
    merged: bool = False

    @cached_property
    def tied(self) -> bool:
        """Whether some mention has several labels."""
        return bool((self.unit != np.arange(len(self.unit))).any())

    @cached_property
    def segmented(self) -> bool:
        """Whether some mention is part of another."""
        return bool((self.parent >= 0).any())

    @cached_property
    def without_link(self) -> bool:
        """Whether some label names no entity."""
        return bool((self.items.entity == NO_LINK).any())


class Answers(msgspec.Struct, frozen=True):
    """Answers with their scores, NaN where none was given."""

    items: Items
    score: Floats


class Pairs(NamedTuple):
    """Places of gold items and answers that belong together in some way."""

    gold: Longs
    answer: Longs

    def where(self, mask: Bools) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.gold[mask], self.answer[mask])
