"""Class hierarchy: classes of entities with their superclasses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from types import MappingProxyType

from karat.model.errors import InputError
from karat.model.tables.checks import RowLocator

_MAX_IDS = 10


ROLES: Mapping[str, frozenset[str]] = {
    "place": frozenset({"Q27096213", "Q3895768", "place", "location", "loc", "gpe"}),
    "person": frozenset({"Q215627", "Q5", "person", "per", "pers", "human"}),
    "people": frozenset({"Q33829", "ethnicgroup", "norp"}),
    "language": frozenset({"Q17376908", "language"}),
    "character": frozenset({"Q95074", "fictionalcharacter", "character"}),
    "organisation": frozenset({"Q43229", "organisation", "organization", "org"}),
}
"""Classes of the roles that some facts need: Wikidata ids, and names in lower case as ontologies and tag sets use."""

LITERAL_ROLES = ("place", "person", "people", "character")
"""Roles of entities that no metonym means: a metonym names a place, but means an entity without these roles."""

_NAMESPACE = re.compile(r".*[/#:]")
_GENERAL = frozenset({"entity", "named entity", "named_entity", "namedentity", "ent", "ne", "mention", "term", "thing"})


@cache
def find_roles(cls: str) -> frozenset[str]:
    """Return the roles of a class, keys of `ROLES`; the case of names and the namespace of IRIs do not matter.

    Of a name with subtypes, such as HIPE's `pers.ind`, the part before the first point counts.
    """
    name = _NAMESPACE.sub("", cls)
    spellings = {name, name.partition(".")[0].lower()}
    return frozenset(role for role, classes in ROLES.items() if not classes.isdisjoint(spellings))


@cache
def is_general_class(cls: str) -> bool:
    """Return whether any entity may have a class, such as brat's `Entity`, so that it tells nothing about roles."""
    return _NAMESPACE.sub("", cls).lower() in _GENERAL


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A directed acyclic graph of classes; a class may have several superclasses.

    An unknown class has only itself above and below. Results of `find_ancestors` and `find_descendants` are cached.
    """

    superclasses: Mapping[str, tuple[str, ...]] = field(repr=False)
    """Direct superclasses by class, sorted."""

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]], *, where: RowLocator = "pairs[{}]".format) -> Hierarchy:
        """Build a hierarchy from pairs (class, superclass); raise `InputError` if there is a cycle.

        `where`: function from the index of a pair to its location in error messages.
        """
        rows = list(pairs)
        superclasses: dict[str, list[str]] = {}
        for subclass, superclass in dict.fromkeys(rows):
            superclasses.setdefault(subclass, []).append(superclass)
        if cycle := _find_cycle(superclasses):
            raise cycle_error(cycle, rows, where, "superclasses without cycles")
        return cls(MappingProxyType({subclass: tuple(sorted(parents)) for subclass, parents in superclasses.items()}))

    def find_ancestors(self, cls: str) -> Mapping[str, int]:
        """Return the class and all its direct and indirect superclasses, with the smallest number of edges to each."""
        if cls not in self._ancestor_cache:
            self._ancestor_cache[cls] = MappingProxyType(_measure_distances(cls, self.superclasses))
        return self._ancestor_cache[cls]

    def find_descendants(self, cls: str) -> frozenset[str]:
        """Return the class and all its direct and indirect subclasses."""
        if cls not in self._descendant_cache:
            self._descendant_cache[cls] = frozenset(_measure_distances(cls, self._subclasses))
        return self._descendant_cache[cls]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the superclasses as a dictionary, because a read-only view cannot be pickled."""
        return _rebuild, (dict(self.superclasses),)

    @cached_property
    def _subclasses(self) -> Mapping[str, list[str]]:
        """Direct subclasses by class."""
        subclasses: dict[str, list[str]] = {}
        for cls, parents in self.superclasses.items():
            for parent in parents:
                subclasses.setdefault(parent, []).append(cls)
        return subclasses

    @cached_property
    def _ancestor_cache(self) -> dict[str, Mapping[str, int]]:
        """Superclasses of each class that was looked up, with their distances."""
        return {}

    @cached_property
    def _descendant_cache(self) -> dict[str, frozenset[str]]:
        """Subclasses of each class that was looked up."""
        return {}


def _rebuild(superclasses: dict[str, tuple[str, ...]]) -> Hierarchy:
    """Recreate a pickled hierarchy."""
    return Hierarchy(MappingProxyType(superclasses))


def _find_cycle(superclasses: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Return the classes of a cycle, each followed by one of its superclasses; None if there is no cycle."""
    safe: set[str] = set()
    path: dict[str, None] = {}  # classes from the start of the walk to the current one; a dict is an ordered set
    for start in superclasses:
        stack = [start]
        while stack:
            current = stack[-1]
            unvisited = (
                () if current in safe else [o for o in superclasses[current] if o in superclasses and o not in safe]
            )
            if not unvisited:
                safe.add(stack.pop())
                path.pop(current, None)
                continue
            path[current] = None
            for other in unvisited:
                if other in path:
                    ids = list(path)
                    return ids[ids.index(other) :]
            stack += unvisited
    return None


def _measure_distances(start: str, edges: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Return every node that is reachable from `start`, with the smallest number of edges to it, nearest first."""
    distances = {start: 0}
    queue = [start]
    for node in queue:  # the list grows while it is walked
        for neighbour in edges.get(node, ()):
            if neighbour not in distances:
                distances[neighbour] = distances[node] + 1
                queue.append(neighbour)
    return distances


def cycle_error(cycle: list[str], pairs: Sequence[tuple[str, str]], where: RowLocator, expected: str) -> InputError:
    """Return the error about a `cycle` among `pairs`, located at the last row of the cycle, which closes it.

    `cycle`: ids; each is paired with the next, and the last with the first. `where`: function from the index
    of a pair to its location. `expected`: text of the expected input.
    """
    start = cycle.index(min(cycle))
    cycle = cycle[start:] + cycle[:start]
    edges = set(pairwise([*cycle, cycle[0]]))
    rows: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(pairs):
        if pair in edges:
            rows.setdefault(pair, row)
    return InputError(
        where(max(rows.values())),
        actual=f"the cycle {_format_cycle(cycle)}",
        expected=expected,
        remedy="Delete one of the rows of the cycle",
    )


def _format_cycle(cycle: list[str]) -> str:
    """Return a cycle as text, `a → b → a`, shortened in the middle if it is long."""
    if len(cycle) <= _MAX_IDS:
        return " → ".join([*cycle, cycle[0]])
    half = _MAX_IDS // 2
    return f"{' → '.join([*cycle[:half], '…', *cycle[-half:], cycle[0]])} of {len(cycle)} ids"
