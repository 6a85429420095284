"""Classes and their superclasses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from karat.kb.cycles import refused
from karat.model.tables.check import Where

ROLES: Mapping[str, frozenset[str]] = {
    "place": frozenset({"Q27096213", "Q3895768", "http://dbpedia.org/ontology/Place", "LOC", "GPE", "LOCATION"}),
    "person": frozenset({"Q215627", "http://dbpedia.org/ontology/Person", "PER", "PERSON"}),
    "people": frozenset({"Q33829", "http://dbpedia.org/ontology/EthnicGroup", "NORP"}),
    "language": frozenset({"Q17376908", "http://dbpedia.org/ontology/Language", "LANGUAGE"}),
    "character": frozenset({"Q95074", "http://dbpedia.org/ontology/FictionalCharacter"}),
    "organisation": frozenset({"Q43229", "http://dbpedia.org/ontology/Organisation", "ORG", "ORGANIZATION"}),
}
"""The types that some traits ask for, as Wikidata, DBpedia and common tag sets name them."""


def _pair(row: int) -> str:
    return f"pairs[{row}]"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Classes of entities; a class may have several superclasses.

    A class that it does not know has only itself above and below. What was asked once is kept.
    """

    superclasses: Mapping[str, tuple[str, ...]] = field(repr=False)

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]], *, where: Where = _pair) -> Hierarchy:
        """The hierarchy of pairs (class, superclass); `where` says where the pair of that number was found."""
        rows = list(pairs)
        superclasses: dict[str, list[str]] = {}
        for one, other in dict.fromkeys(rows):
            superclasses.setdefault(one, []).append(other)
        if cycle := _cycle(superclasses):
            raise refused(cycle, rows, where, "classes of which none is above itself")
        return cls(MappingProxyType({one: tuple(sorted(others)) for one, others in superclasses.items()}))

    def above(self, cls: str) -> Mapping[str, int]:
        """The class and all classes that it is below, each with the fewest edges on the way to it."""
        if cls not in self._above:
            self._above[cls] = MappingProxyType(_reached(cls, self.superclasses))
        return self._above[cls]

    def below(self, cls: str) -> frozenset[str]:
        """The class and all classes that it is above."""
        if cls not in self._below:
            self._below[cls] = frozenset(_reached(cls, self._subclasses))
        return self._below[cls]

    @cached_property
    def _subclasses(self) -> Mapping[str, list[str]]:
        subclasses: dict[str, list[str]] = {}
        for one, others in self.superclasses.items():
            for other in others:
                subclasses.setdefault(other, []).append(one)
        return subclasses

    @cached_property
    def _above(self) -> dict[str, Mapping[str, int]]:
        return {}

    @cached_property
    def _below(self) -> dict[str, frozenset[str]]:
        return {}


def _cycle(superclasses: Mapping[str, Sequence[str]]) -> list[str] | None:
    """The classes of a cycle, if there is one."""
    safe: set[str] = set()
    path: dict[str, None] = {}  # from where the walk began to where it is; a dict is an ordered set
    for start in superclasses:
        stack = [start]
        while stack:
            at = stack[-1]
            ahead = () if at in safe else [o for o in superclasses[at] if o in superclasses and o not in safe]
            if not ahead:
                safe.add(stack.pop())
                path.pop(at, None)
                continue
            path[at] = None
            for other in ahead:
                if other in path:
                    ids = list(path)
                    return ids[ids.index(other) :]
            stack += ahead
    return None


def _reached(start: str, edges: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Everything that can be reached, nearest first, with the number of edges to it."""
    edges_to = {start: 0}
    queue = [start]
    for one in queue:  # the list grows while it is walked
        for other in edges.get(one, ()):
            if other not in edges_to:
                edges_to[other] = edges_to[one] + 1
                queue.append(other)
    return edges_to
