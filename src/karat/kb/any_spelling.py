"""A knowledge base that is asked, and answers, in the ids that a choice of `ids` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from karat.kb.hierarchy import Hierarchy
from karat.kb.protocol import KB, Standing
from karat.kb.spelling import SPELLINGS
from karat.spec.choices.conventions import Ids

_T = TypeVar("_T")


def in_any_spelling(kb: KB, how: Ids) -> KB:
    """The knowledge base for ids that are read in a certain way; itself where they are read as written."""
    return AnySpelling(kb, how) if how in SPELLINGS and how.by_kb else kb


def behind(kb: KB | None) -> KB | None:
    """The knowledge base itself, which requests may share."""
    return kb.base if isinstance(kb, AnySpelling) else kb


class AnySpelling(msgspec.Struct, frozen=True, eq=False):
    """A knowledge base whose own ids may be written in another way than those of the data.

    It is asked for an id in the usual spellings of its normal form, in turn, and then as written, until it knows one.
    Canonical ids are normal forms.
    """

    base: KB
    how: Ids
    _found: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def name(self) -> str:
        """As the base is called."""
        return self.base.name

    @property
    def digest(self) -> str:
        """That of the base: the signature has the choice beside it."""
        return self.base.digest

    @property
    def hierarchy(self) -> Hierarchy:
        """The classes of the base, whose ids are as written."""
        return self.base.hierarchy

    def canonical(self, ids: Sequence[str]) -> list[str]:
        """For each id the normal form of the one that stands for the same entity."""
        normal = SPELLINGS[self.how].normal
        return [normal(id) for id in self.base.canonical(self.own_ids(ids))]

    def standings(self, ids: Sequence[str]) -> list[Standing]:
        """What becomes of each id; one that the base writes otherwise is mapped."""
        own = self.own_ids(ids)
        found = zip(ids, own, self.base.standings(own), strict=True)
        return [
            Standing.MAPPED if said is Standing.UNCHANGED and spelling != id else said for id, spelling, said in found
        ]

    def has(self, ids: Sequence[str]) -> list[bool] | None:
        """Whether each id stands for an entity; None without a table of entities."""
        return self.base.has(self.own_ids(ids))

    def names(self, ids: Sequence[str]) -> list[str | None]:
        """The name of each entity."""
        return self.base.names(self.own_ids(ids))

    def aliases(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """What else each entity is called."""
        return self.base.aliases(self.own_ids(ids))

    def types(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """The types of each entity."""
        return self.base.types(self.own_ids(ids))

    def popular(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """The normal forms of the entities that each surface most often stands for."""
        normal = SPELLINGS[self.how].normal
        return [None if ids is None else frozenset(map(normal, ids)) for ids in self.base.popular(surfaces)]

    def comparable(self, ids: Sequence[str]) -> list[bool]:
        """Whether each id, if canonical, is written as those are that surfaces stand for, in one of its spellings."""
        spellings = [tuple(self._spellings(id)) for id in ids]
        every = list(dict.fromkeys(chain.from_iterable(spellings)))
        there = dict(zip(every, self.base.comparable(every), strict=True))  # at once: asking may be slow
        return [any(there[spelling] for spelling in own) for own in spellings]

    def demonyms(self, surfaces: Sequence[str]) -> list[bool | None]:
        """Whether each surface is a demonym."""
        return self.base.demonyms(surfaces)

    def own_ids(self, ids: Sequence[str]) -> list[str]:
        """Each id as the base writes it, or the normal form where it does not know any spelling."""
        new = [id for id in dict.fromkeys(ids) if id not in self._found]
        waiting = {id: chain(self._spellings(id), [id]) for id in new}
        self._found.update((id, SPELLINGS[self.how].normal(id)) for id in new)
        while waiting:
            tried = {id: spelling for id, rest in waiting.items() if (spelling := next(rest, None)) is not None}
            known = self._knows(list(tried.values()))
            self._found.update(
                (id, spelling) for (id, spelling), there in zip(tried.items(), known, strict=True) if there
            )
            waiting = {id: waiting[id] for id, there in zip(tried, known, strict=True) if not there}
        return [self._found[id] for id in ids]

    def _spellings(self, id: str) -> Iterator[str]:
        own = SPELLINGS[self.how]
        return own.spellings(own.normal(id))

    def _knows(self, ids: Sequence[str]) -> list[bool]:
        """Which ids the base says anything about."""
        base = self.base
        listed = base.has(ids) or [False] * len(ids)
        facts = zip(ids, base.canonical(ids), listed, _given(base.names(ids)), _given(base.types(ids)), strict=True)
        return [other != id or any(said) for id, other, *said in facts]


def _given(facts: Sequence[_T | None]) -> list[bool]:
    return [fact is not None for fact in facts]
