"""Equivalence classes of ids: the canonical id of every id, computed from redirects and same-as pairs.

Redirects are followed to their end first. Ids that same-as pairs then connect form an equivalence class, and one of
them becomes its canonical id. A class that connects two ids of entities only through other ids, such as two items by
the title that they share, would merge two entities: it is reported with the chain of pairs that connects them, and not
merged. A pair of two such ids says itself that they are the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from karat.kb.ids.id_patterns import PLAIN_TEXT, id_pattern
from karat.kb.ids.id_spaces import WIKIDATA, parse_id_key


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Two different ids of one id space in one equivalence class, connected only through ids of other spaces."""

    space: str
    """Id space of the two ids."""
    chain: tuple[str, ...]
    """Ids that lead from the first to the second of the two, both included."""

    @classmethod
    def from_claims(cls, space: str, id: str, claimants: Iterable[str]) -> MergeConflict:
        """Build the conflict of several ids of `space`, the `claimants`, that are all equivalent to `id`."""
        return cls(space, tuple(member for item in claimants for member in (id, item))[1:])

    def __str__(self) -> str:
        return " = ".join(self.chain)


@dataclass(frozen=True, slots=True)
class IdEquivalence:
    """The canonical id of every id that is not canonical itself, and the ids and redirects that were not merged."""

    canonical: Mapping[str, str]
    """Canonical id by id; an id that is missing is its own canonical id."""
    redirected_ids: frozenset[str] = frozenset()
    """Ids that redirect to another id."""
    conflict_index: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Ids that were not merged because their class has a conflict, with the index of the conflict in `conflicts`."""
    conflicts: tuple[MergeConflict, ...] = ()
    """Classes that would merge two entities."""
    redirect_cycles: tuple[tuple[str, ...], ...] = ()
    """Cycles of redirects, which are not followed."""
    ids_with_several_targets: tuple[str, ...] = ()
    """Ids with several different redirects, which are not followed."""
    n_self_redirects: int = 0
    """Number of redirects from an id to itself."""

    @property
    def repairs(self) -> dict[str, int]:
        """Number of redirects and classes that were skipped, by description; descriptions with 0 are omitted."""
        counts = {
            "redirects to themselves, skipped": self.n_self_redirects,
            "cycles of redirects, not followed": len(self.redirect_cycles),
            "ids with several redirects, not followed": len(self.ids_with_several_targets),
            "equivalence classes with several ids of one space, not merged": len(self.conflicts),
        }
        return {description: count for description, count in counts.items() if count}


def build_equivalence(
    redirects: Iterable[tuple[str, str]] = (),
    same_as: Iterable[tuple[str, str]] = (),
    entities: Collection[str] = frozenset(),
) -> IdEquivalence:
    """Compute the canonical id of every id from `redirects` (from, to) and `same_as` pairs.

    The canonical id of a class is an id among `entities` if there is one, else an item of Wikidata, else the smallest
    id, compared as strings. Redirect cycles, ids with several targets and classes that would merge two entities are not
    followed or merged, but listed in the result.
    """
    targets, ids_with_several_targets, n_self_redirects = _collect_targets(redirects)
    ends, cycles = _follow_redirects(targets)
    equivalence = merge_equivalent_ids(ends, same_as, entities, lambda id: (id not in entities, *order_key(id)))
    return replace(
        equivalence,
        redirect_cycles=tuple(cycles),
        ids_with_several_targets=tuple(ids_with_several_targets),
        n_self_redirects=n_self_redirects,
    )


def merge_equivalent_ids(
    redirect_ends: Mapping[str, str],
    same_as: Iterable[tuple[str, str]],
    entities: Collection[str],
    order: Callable[[str], tuple[Any, ...]],
) -> IdEquivalence:
    """Merge the ids that `same_as` pairs connect, unless that would merge two entities.

    `redirect_ends`: end of the redirect chain of each redirected id; the pairs apply to the ends, so that a redirected
    id never becomes canonical. `entities`: ids that are listed as entities. `order`: returns the sort key of an id; the
    first id of a class becomes canonical.
    """
    edges: dict[str, list[str]] = {}
    for left, right in same_as:
        left, right = redirect_ends.get(left, left), redirect_ends.get(right, right)
        if left != right:
            edges.setdefault(left, []).append(right)
            edges.setdefault(right, []).append(left)
    canonical: dict[str, str] = {}
    conflict_index: dict[str, int] = {}
    conflicts: list[MergeConflict] = []
    for ids in _iterate_classes(edges):
        conflict = _find_conflict(ids, edges, entities) if len(ids) > 2 else None
        if conflict is not None:
            conflict_index.update(dict.fromkeys(ids, len(conflicts)))
            conflicts.append(conflict)
            continue
        representative = min(ids, key=order)
        canonical.update((id, representative) for id in ids if id != representative)
    for id, end in redirect_ends.items():
        canonical[id] = canonical.get(end, end)
        if end in conflict_index:
            conflict_index[id] = conflict_index[end]
    return IdEquivalence(
        MappingProxyType(canonical), frozenset(redirect_ends), MappingProxyType(conflict_index), tuple(conflicts)
    )


def order_key(id: str) -> tuple[bool, bool, str]:
    """Return the sort key of an id among equivalent ids: items of Wikidata first, as `Q64`, then as strings."""
    key = parse_id_key(id)
    is_item = key is not None and key.space == WIKIDATA
    return not is_item, is_item and key is not None and key.local_id != id, id


def _collect_targets(redirects: Iterable[tuple[str, str]]) -> tuple[dict[str, str], list[str], int]:
    """Return the target of each id with exactly one, the sorted ids with several, and the number of self-redirects."""
    targets: dict[str, str] = {}
    conflicting_ids: dict[str, None] = {}
    n_self_redirects = 0
    for id, to in redirects:
        if id == to:
            n_self_redirects += 1
        elif targets.setdefault(id, to) != to:
            conflicting_ids[id] = None
    for id in conflicting_ids:
        del targets[id]
    return targets, sorted(conflicting_ids), n_self_redirects


def _follow_redirects(targets: Mapping[str, str]) -> tuple[dict[str, str], list[tuple[str, ...]]]:
    """Return the end of the redirect chain of each id, and the cycles; ids on or before a cycle have no end."""
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
            start_index = cycle.index(min(cycle))
            cycles.append((*cycle[start_index:], *cycle[:start_index]))
            ends.update(dict.fromkeys(path))
        else:
            ends.update(dict.fromkeys(path, ends.get(id, id)))
    return {id: end for id, end in ends.items() if end is not None}, sorted(cycles)


def _iterate_classes(edges: Mapping[str, Sequence[str]]) -> Iterable[list[str]]:
    """Yield the ids of each connected component of the same-as graph, given the neighbours of each id."""
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


_LISTED: Final = "entities"  # the space of entities without one


class _EntityClaim(NamedTuple):
    """Evidence of an id about the entity that its class names."""

    rank: int
    """How likely the id is to be that of the entity: 0 if it is listed as one, then items, other ids, and pages."""
    space: str
    """Id space, or the pattern of a number with a prefix of the user."""
    local_id: str
    """Id within the space, the same for all spellings."""


def _find_conflict(
    ids: Sequence[str], edges: Mapping[str, Sequence[str]], entities: Collection[str]
) -> MergeConflict | None:
    """Return a conflict of two entities in a class, or None; two spellings of one id are no conflict.

    The ids of entities are those of the most likely spaces: several pages of one item are no conflict, but several
    items of one page are.

    `ids`: members of the class. `edges`: neighbours of each id in the same-as graph. `entities`: ids that are listed
    as entities.
    """
    claims = {id: claim for id in sorted(ids) if (claim := _parse_claim(id, entities)) is not None}
    best_rank = min((claim.rank for claim in claims.values()), default=0)
    for space in sorted({claim.space for claim in claims.values() if claim.rank == best_rank}):
        members: dict[str, list[str]] = {}
        for id, claim in claims.items():
            if claim.space == space:
                members.setdefault(claim.local_id, []).append(id)
        first = next(iter(members))
        connected = {first: None}  # a dict is an ordered set
        queue = deque(members[first])
        while queue:
            for other in edges[queue.popleft()]:
                claim = claims.get(other)
                if claim is not None and claim.space == space and claim.local_id not in connected:
                    connected[claim.local_id] = None
                    queue.extend(members[claim.local_id])
        separate = next((local_id for local_id in members if local_id not in connected), None)
        if separate is not None:
            return MergeConflict(space, _find_shortest_path(members[first][0], members[separate][0], edges))
    return None


def _parse_claim(id: str, entities: Collection[str]) -> _EntityClaim | None:
    """Return what an id says about its entity; None for a title or a name that is not listed as an entity."""
    key = parse_id_key(id)
    pattern = id_pattern(id)
    is_listed = id in entities
    if key is not None:
        rank = 1 if key.space == WIKIDATA else 3 if key.space.endswith("wiki") else 2
        return _EntityClaim(0 if is_listed else rank, key.space, key.local_id)
    if pattern != PLAIN_TEXT:
        return _EntityClaim(0 if is_listed else 2, pattern, id)
    return _EntityClaim(0, _LISTED, id) if is_listed else None


def _find_shortest_path(start: str, end: str, edges: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the ids on the shortest path from `start` to `end` in the same-as graph, both included."""
    predecessor = {start: ""}
    queue = deque([start])
    while queue and end not in predecessor:
        id = queue.popleft()
        for other in sorted(edges[id]):
            if other not in predecessor:
                predecessor[other] = id
                queue.append(other)
    path = [end]
    while predecessor[path[-1]]:
        path.append(predecessor[path[-1]])
    return tuple(reversed(path))
