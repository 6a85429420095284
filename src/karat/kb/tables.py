"""A knowledge base in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import TypeVar

import msgspec

from karat.errors import InputError
from karat.kb.cycles import refused
from karat.kb.hierarchy import Hierarchy
from karat.kb.protocol import Standing
from karat.kb.scheme import scheme_of
from karat.model.tables.check import Where

_Row = TypeVar("_Row", bound=tuple[str, ...])


def _in_memory(table: str) -> Where:
    return lambda row: f"{table}[{row}]"


@dataclass(frozen=True, eq=False)
class Tables:
    """A knowledge base made of tables: redirects, same-as, superclasses, entities and what is known about them.

    Redirects and same-as speak of entities; they do not change the ids of classes.
    """

    name: str
    hierarchy: Hierarchy
    _stands_for: Mapping[str, str] = field(repr=False)
    _known: frozenset[str] | None = field(repr=False)
    _names: Mapping[str, str] = field(repr=False)
    _aliases: Mapping[str, frozenset[str]] = field(repr=False)
    _types: Mapping[str, frozenset[str]] = field(repr=False)
    _popular: Mapping[str, frozenset[str]] = field(repr=False)
    _demonyms: frozenset[str] | None = field(repr=False)
    _redirected: frozenset[str] = field(default=frozenset(), repr=False)

    @classmethod
    def of(
        cls,
        *,
        name: str = "tables",
        redirects: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        same_as: Iterable[tuple[str, str]] = (),
        subclass_of: Iterable[tuple[str, str]] = (),
        entities: Iterable[str] | None = None,
        names: Mapping[str, str] | None = None,
        aliases: Iterable[tuple[str, str]] = (),
        types: Mapping[str, Iterable[str]] | None = None,
        popular: Mapping[str, Iterable[str]] | None = None,
        demonyms: Iterable[str] | None = None,
        where: Callable[[str], Where] = _in_memory,
    ) -> Tables:
        """The tables, or an `InputError` about their first defect.

        Redirects are pairs (from, to), `subclass_of` pairs (class, superclass). Of ids that are the same, the
        smallest as written stands for all, after redirects. Without `entities` nobody can say which ids are known;
        with an empty table none is.

        `names` and `types` are by id: where several ids stand for one entity it has the types of all of them, and the
        name of the one that stands for all or else of the smallest. `aliases` are pairs (id, alias). `popular` has the
        most frequent entities by surface. `where` makes the place of a row in messages, for each table by its name.
        """
        moved = _named(redirects.items() if isinstance(redirects, Mapping) else redirects, where("redirects"))
        same = _named(same_as, where("same_as"))
        classes = _named(subclass_of, where("subclass_of"))
        ends = _ends(moved, where("redirects"))
        stands_for = _united(ends, same)
        known = None
        if entities is not None:
            known = frozenset([stands_for.get(id, id) for id in _filled(entities, where("entities"))])
        return cls(
            name,
            Hierarchy.of(classes, where=where("subclass_of")),
            stands_for,
            known,
            _entity_names(names or {}, stands_for, where("names")),
            _entity_aliases(aliases, stands_for, where("aliases")),
            _entity_types(types or {}, stands_for, where("types")),
            _candidates(popular or {}, stands_for, where("popular")),
            None if demonyms is None else _surfaces(demonyms, where("demonyms")),
            frozenset(ends),
        )

    def canonical(self, ids: Sequence[str]) -> list[str]:
        """For each id the one that stands for the same entity; an unknown id stands for itself."""
        return [self._stands_for.get(id, id) for id in ids]

    def standings(self, ids: Sequence[str]) -> list[Standing]:
        """What becomes of each id; without a table of entities, only what a row mentions is known."""
        targets = self._known if self._known is not None else frozenset(self._stands_for.values())
        return [self._standing(id, entity, targets) for id, entity in zip(ids, self.canonical(ids), strict=True)]

    def _standing(self, id: str, entity: str, known: frozenset[str]) -> Standing:
        if entity not in known:
            return Standing.UNKNOWN
        if id in self._redirected:
            return Standing.REDIRECTED
        return Standing.UNCHANGED if id == entity else Standing.MAPPED

    def has(self, ids: Sequence[str]) -> list[bool] | None:
        """Whether each id is in the table of entities, or stands for the same as one that is; None without table."""
        known = self._known
        return None if known is None else [id in known for id in self.canonical(ids)]

    def names(self, ids: Sequence[str]) -> list[str | None]:
        """The name of each entity; None where it is not known."""
        return list(map(self._names.get, self.canonical(ids)))

    def aliases(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """The aliases of each entity; None where none is in the table."""
        return list(map(self._aliases.get, self.canonical(ids)))

    def types(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """The types of each entity; None where they are not known, and the empty set where it has none."""
        return list(map(self._types.get, self.canonical(ids)))

    def popular(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """The canonical ids that each surface most often stands for; None where the surface is not in the table."""
        return list(map(self._popular.get, surfaces))

    def comparable(self, ids: Sequence[str]) -> list[bool]:
        """Whether each id is written as one that a surface in the table stands for; see `karat.kb.scheme`."""
        schemes = [scheme_of(id) for id in ids]
        unseen, popular = set(schemes) - self._unused, chain.from_iterable(self._popular.values())
        while unseen and (id := next(popular, None)) is not None:  # ends soon, where ids are those of the table
            unseen.discard(scheme_of(id))
        self._unused.update(unseen)
        return [scheme not in self._unused for scheme in schemes]

    @cached_property
    def _unused(self) -> set[str]:
        """Schemes of which no surface stands for an id, as far as somebody looked for them."""
        return set()

    def demonyms(self, surfaces: Sequence[str]) -> list[bool | None]:
        """Whether each surface is in the table of demonyms; None without table."""
        known = self._demonyms
        return [None if known is None else surface in known for surface in surfaces]

    @cached_property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with what the tables say, however their rows say it.

        It tells versions apart; it is no protection against forgery.
        """
        facts = chain(map(str.encode, self._facts()), self._columns())
        total = sum(int.from_bytes(blake2b(fact, digest_size=8).digest()) for fact in facts)
        return f"{total & 0xFFFFFFFF:08x}"

    def _facts(self) -> Iterator[str]:
        """Everything that an answer can depend on, each fact once."""
        for id, other in self._stands_for.items():
            yield f"canonical\0{id}\0{other}"
        for one, others in self.hierarchy.superclasses.items():
            for other in others:
                yield f"subclass_of\0{one}\0{other}"

    def _columns(self) -> Iterator[bytes]:
        """What is known about entities and surfaces, each table as a whole: row by row would take too long."""
        for table, members in (("entities", self._known), ("demonyms", self._demonyms)):
            if members is not None:
                yield msgspec.json.encode((table, sorted(members)))
        ids = sorted(self._names)
        if ids:  # nobody can tell an empty table from none, by any answer
            yield msgspec.json.encode(("names", ids, [self._names[id] for id in ids]))
        for table, sets in (("aliases", self._aliases), ("types", self._types), ("popular", self._popular)):
            if sets:
                listed = {each: sorted(each) for each in set(sets.values())}  # many are the same
                keys = sorted(sets)
                yield msgspec.json.encode((table, keys, [listed[sets[key]] for key in keys]))


def _named(rows: Iterable[_Row], where: Where) -> list[_Row]:
    """The rows, none of which has an empty id."""
    checked = list(rows)
    for row, ids in enumerate(checked):
        if not all(map(str.strip, ids)):
            raise _no_id(where(row))
    return checked


def _filled(ids: Iterable[str], where: Where) -> list[str]:
    """The ids, none of which is empty."""
    checked = list(ids)
    if not all(map(str.strip, checked)):
        raise _no_id(where(next(row for row, id in enumerate(checked) if not id.strip())))
    return checked


def _no_id(where: str) -> InputError:
    return InputError(where, found="an empty id", expected="an id", remedy="Fill it in, or delete the row")


def _ends(redirects: Sequence[tuple[str, str]], where: Where) -> dict[str, str]:
    """For each redirected id the end of its chain."""
    targets: dict[str, str] = {}
    for row, (id, to) in enumerate(redirects):
        if targets.setdefault(id, to) != to:
            before = where(redirects.index((id, targets[id])))
            raise InputError(
                where(row),
                found=f"a redirect from {id!r} to {to!r}, and one to {targets[id]!r} at {before}",
                expected="one target for each id",
                remedy="Delete one of the two rows",
            )
    ends: dict[str, str] = {}
    for id in targets:
        path: dict[str, None] = {}  # a dict is an ordered set
        while id in targets and id not in ends and id not in path:
            path[id] = None
            id = targets[id]
        if id in path:
            ids = list(path)
            raise refused(ids[ids.index(id) :], redirects, where, "redirects that come to an end")
        ends.update(dict.fromkeys(path, ends.get(id, id)))
    return ends


def _united(ends: Mapping[str, str], same: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each id the one that stands for it, where that is another one."""
    toward: dict[str, str] = {}  # toward a smaller id that is the same

    def smallest(id: str) -> str:
        while (smaller := toward.get(id, id)) != id:
            toward[id] = toward.get(smaller, smaller)  # halves the way for whoever comes next
            id = smaller
        return id

    for one, other in same:
        low, high = sorted((smallest(ends.get(one, one)), smallest(ends.get(other, other))))
        if low != high:
            toward[high] = low
    stands_for = {id: smallest(end) for id, end in ends.items()}
    stands_for.update((id, smallest(id)) for id in toward)
    return stands_for


def _entity_names(names: Mapping[str, str], stands_for: Mapping[str, str], where: Where) -> dict[str, str]:
    """The name of each entity that has one."""
    _filled(names, where)
    found = {id: name for id, name in names.items() if name and id not in stands_for}
    for id in sorted(names.keys() & stands_for.keys()):
        if names[id]:
            found.setdefault(stands_for[id], names[id])
    return found


def _entity_aliases(
    aliases: Iterable[tuple[str, str]], stands_for: Mapping[str, str], where: Where
) -> dict[str, frozenset[str]]:
    """All aliases of each entity that has one."""
    found: dict[str, set[str]] = {}
    for row, (id, alias) in enumerate(aliases):
        if not id.strip():
            raise _no_id(where(row))
        if not alias.strip():
            raise InputError(
                where(row), found="an empty alias", expected="an alias", remedy="Fill it in, or delete the row"
            )
        found.setdefault(stands_for.get(id, id), set()).add(alias)
    return {id: frozenset(its) for id, its in found.items()}


def _entity_types(
    types: Mapping[str, Iterable[str]], stands_for: Mapping[str, str], where: Where
) -> dict[str, frozenset[str]]:
    """All types of each entity."""
    _filled(types, where)
    found: dict[str, frozenset[str]] = {}
    for row, (id, its) in enumerate(types.items()):
        each = frozenset(its)
        if "" in each:
            raise InputError(where(row), found="an empty type", expected="types", remedy="Fill it in, or leave it out")
        id = stands_for.get(id, id)
        found[id] = each | found[id] if id in found else each
    return found


def _candidates(
    popular: Mapping[str, Iterable[str]], stands_for: Mapping[str, str], where: Where
) -> dict[str, frozenset[str]]:
    """The entities of each surface, of which there is at least one."""
    _surfaces(popular, where)
    found: dict[str, frozenset[str]] = {}
    for row, (surface, ids) in enumerate(popular.items()):
        found[surface] = frozenset([stands_for.get(id, id) for id in ids]) if stands_for else frozenset(ids)
        if not found[surface] or not all(map(str.strip, found[surface])):
            raise _no_id(where(row))
    return found


def _surfaces(surfaces: Iterable[str], where: Where) -> frozenset[str]:
    """The surfaces, none of which is empty."""
    checked = list(surfaces)
    if "" in checked:
        raise InputError(
            where(checked.index("")),
            found="an empty surface",
            expected="a surface",
            remedy="Fill it in, or delete the row",
        )
    return frozenset(checked)
