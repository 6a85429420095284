"""Which ids stand for which entity: one map, made of redirects and same-as, with what it could not follow.

Redirects are followed to their end. What is the same after that makes a class; one id stands for all of it. A class
with two items of one space (`karat.kb.spaces`) says that two things are one: it is told, with the chain that says so,
and not merged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from karat.kb.spaces import key_of


@dataclass(frozen=True, slots=True)
class Joined:
    """Two items of one space that a class joins, and the ids by which one leads to the other."""

    space: str
    chain: tuple[str, ...]

    @classmethod
    def by(cls, space: str, id: str, items: Iterable[str]) -> Joined:
        """Items of a space that all claim to be one id."""
        return cls(space, tuple(each for item in items for each in (id, item))[1:])

    def __str__(self) -> str:
        return " = ".join(self.chain)


@dataclass(frozen=True, slots=True)
class Identity:
    """For each id that another one stands for, which; `redirected` are those that a redirect led away.

    `ambiguous` are ids that nothing stands for because their class joins several items, each with the number of its
    `joined`; `cycles` are redirects that never end, and are not followed; `selves` counts redirects to themselves, and
    `twice` are ids with two different targets, which are not followed either.
    """

    stands_for: Mapping[str, str]
    redirected: frozenset[str] = frozenset()
    ambiguous: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    joined: tuple[Joined, ...] = ()
    cycles: tuple[tuple[str, ...], ...] = ()
    twice: tuple[str, ...] = ()
    selves: int = 0

    @property
    def repairs(self) -> dict[str, int]:
        """What was left out, in words, with how often."""
        counts = {
            "redirects to themselves, left out": self.selves,
            "cycles of redirects, not followed": len(self.cycles),
            "ids with several redirects, not followed": len(self.twice),
            "classes of same ids that join several items, not merged": len(self.joined),
        }
        return {what: count for what, count in counts.items() if count}


def identity(
    redirects: Iterable[tuple[str, str]] = (),
    same_as: Iterable[tuple[str, str]] = (),
    entities: Collection[str] = frozenset(),
) -> Identity:
    """The map of some redirects (from, to) and pairs of ids that are the same.

    Of a class one that is among `entities` stands for all, or else the smallest as written.
    """
    targets, twice, selves = _targets(redirects)
    ends, cycles = _ends(targets)
    edges: dict[str, list[str]] = {}
    for one, other in same_as:
        one, other = ends.get(one, one), ends.get(other, other)
        if one != other:
            edges.setdefault(one, []).append(other)
            edges.setdefault(other, []).append(one)
    stands_for: dict[str, str] = {}
    ambiguous: dict[str, int] = {}
    joined: list[Joined] = []
    for ids in _classes(edges):
        clash = _clash(ids, edges)
        if clash is not None:
            ambiguous.update(dict.fromkeys(ids, len(joined)))
            joined.append(clash)
            continue
        first = min(ids, key=lambda id: (id not in entities, id))
        stands_for.update((id, first) for id in ids if id != first)
    for id, end in ends.items():
        stands_for[id] = stands_for.get(end, end)
        if end in ambiguous:
            ambiguous[id] = ambiguous[end]
    return Identity(
        MappingProxyType(stands_for),
        frozenset(ends),
        MappingProxyType(ambiguous),
        tuple(joined),
        tuple(cycles),
        tuple(twice),
        selves,
    )


def _targets(redirects: Iterable[tuple[str, str]]) -> tuple[dict[str, str], list[str], int]:
    targets: dict[str, str] = {}
    twice: dict[str, None] = {}
    selves = 0
    for id, to in redirects:
        if id == to:
            selves += 1
        elif targets.setdefault(id, to) != to:
            twice[id] = None
    for id in twice:
        del targets[id]
    return targets, sorted(twice), selves


def _ends(targets: Mapping[str, str]) -> tuple[dict[str, str], list[tuple[str, ...]]]:
    """For each redirected id the end of its chain; ids of cycles, and those that lead into one, have none."""
    ends: dict[str, str | None] = {}
    cycles: list[tuple[str, ...]] = []
    for start in targets:
        path: dict[str, None] = {}  # a dict is an ordered set
        id = start
        while id in targets and id not in ends and id not in path:
            path[id] = None
            id = targets[id]
        if id in path:
            ids = list(path)
            cycle = ids[ids.index(id) :]
            first = cycle.index(min(cycle))
            cycles.append((*cycle[first:], *cycle[:first]))
            ends.update(dict.fromkeys(path))
        else:
            ends.update(dict.fromkeys(path, ends.get(id, id)))
    return {id: end for id, end in ends.items() if end is not None}, sorted(cycles)


def _classes(edges: Mapping[str, Sequence[str]]) -> Iterable[list[str]]:
    seen: set[str] = set()
    for start in sorted(edges):
        if start not in seen:
            seen.add(start)
            ids = [start]
            for id in ids:  # the list grows while it is walked
                for other in sorted(edges[id]):
                    if other not in seen:
                        seen.add(other)
                        ids.append(other)
            yield ids


def _clash(ids: Sequence[str], edges: Mapping[str, Sequence[str]]) -> Joined | None:
    """Two items of one space in a class, if there are; two spellings of one item are none."""
    met: dict[str, tuple[str, str]] = {}
    for id in sorted(ids):
        key = key_of(id)
        if key is not None:
            local, first = met.setdefault(key.space, (key.local, id))
            if local != key.local:
                return Joined(key.space, _chain(first, id, edges))
    return None


def _chain(start: str, end: str, edges: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The shortest way from one id to another."""
    before = {start: ""}
    queue = deque([start])
    while queue and end not in before:
        id = queue.popleft()
        for other in sorted(edges[id]):
            if other not in before:
                before[other] = id
                queue.append(other)
    way = [end]
    while before[way[-1]]:
        way.append(before[way[-1]])
    return tuple(reversed(way))
