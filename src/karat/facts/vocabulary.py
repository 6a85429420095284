"""What a knowledge base says about entities and about texts, each asked for once however many mentions share it.

Both kinds of table can go on where another one ends: what is known about a gold standard is asked for once, and each
run adds the entities and texts that are new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from karat.kb.hierarchy import ROLES
from karat.kb.protocol import KB
from karat.kb.tables import Tables
from karat.model.tables.columns import Bools, Longs
from karat.model.truth import Truth, told

_T = TypeVar("_T")
_NOTHING = Tables.of()  # knows nothing about anything


class Entities:
    """What is known about the entities of codes; `first` has the codes that come first."""

    def __init__(self, ids: list[str], kb: KB | None, first: Entities | None = None) -> None:
        self.ids, self._kb, self._first = ids, _NOTHING if kb is None else kb, first

    @cached_property
    def names(self) -> list[str | None]:
        """What each is called; None where nobody knows."""
        return _continued(None if self._first is None else self._first.names, self.ids, self._kb.names)

    @cached_property
    def types(self) -> list[frozenset[str] | None]:
        """The types of each; None where nobody knows."""
        return _continued(None if self._first is None else self._first.types, self.ids, self._kb.types)

    @cached_property
    def canonical(self) -> list[str]:
        """The ids by which popular entities are named."""
        known = [] if self._first is None else self._first.canonical
        return [*known, *self._kb.canonical(self.ids[len(known) :])]

    @cached_property
    def comparable(self) -> list[bool]:
        """Which ids could be told among popular entities; what has no id is none of them."""
        known = [] if self._first is None else self._first.comparable
        ids = [id for id in self.canonical[len(known) :] if id]
        told = dict(zip(ids, self._kb.comparable(ids), strict=True))
        return [*known, *(told.get(id, True) for id in self.canonical[len(known) :])]


class Surfaces:
    """What is known about distinct texts, in the order of their codes; `first` has those that come first.

    `codes` are those of the texts that were given.
    """

    def __init__(self, texts: Iterable[str], kb: KB | None, first: Surfaces | None = None) -> None:
        self._kb, self._first = _NOTHING if kb is None else kb, first
        self._places: dict[str, int] = {} if first is None else dict(first._places)
        places = self._places
        self.codes: Longs = np.array([places.setdefault(text, len(places)) for text in texts], np.int64)
        self.texts = list(places)
        self._tested: dict[Callable[[str], bool], Bools] = {}

    def by(self, test: Callable[[str], bool]) -> Bools:
        """What holds of each text; a test is made once."""
        if test not in self._tested:
            known = np.zeros(0, np.bool_) if self._first is None else self._first.by(test)
            rest = self.texts[len(known) :]
            self._tested[test] = np.append(known, np.fromiter(map(test, rest), np.bool_, len(rest)))
        return self._tested[test]

    @cached_property
    def popular(self) -> list[frozenset[str] | None]:
        """The entities that each text most often stands for; None where nobody knows."""
        return _continued(None if self._first is None else self._first.popular, self.texts, self._kb.popular)

    @cached_property
    def popular_for_place(self) -> Truth:
        """Which texts are popular for a place."""
        candidates = sorted({id for ids in self.popular for id in ids or ()})
        place = {id: met(types, "place") for id, types in zip(candidates, self._kb.types(candidates), strict=True)}
        return told(None if ids is None else _any(place[id] for id in ids) for ids in self.popular)

    @cached_property
    def demonyms(self) -> Truth:
        """Which texts are in the list of demonyms."""
        return told(self._kb.demonyms(self.texts))


def met(types: frozenset[str] | None, role: str) -> bool | None:
    """Whether one of these types is of a role; None where they are not known."""
    return None if types is None else not types.isdisjoint(ROLES[role])


def _continued(
    first: list[_T | None] | None, keys: Sequence[str], ask: Callable[[Sequence[str]], list[_T | None]]
) -> list[_T | None]:
    """What is known about keys, of which those that come first were asked for before."""
    known = first or []
    return [*known, *ask(keys[len(known) :])]


def _any(values: Iterable[bool | None]) -> bool | None:
    known = set(values)
    return True if True in known else None if None in known else False
