"""A knowledge base whose tables are held in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import TypeVar

import msgspec

from karat.kb.hierarchy import Hierarchy, cycle_error
from karat.kb.ids.equivalence_classes import merge_equivalent_ids, order_key
from karat.kb.ids.id_patterns import id_pattern
from karat.kb.ids.normal_forms import DEFAULT_CONTEXT, IdContext
from karat.kb.ids.spelling_index import SpellingIndex, respell_pairs
from karat.kb.protocol import IdStatus
from karat.model.caches.value_cache import ValueCache
from karat.model.errors import InputError
from karat.model.tables.checks import RowLocator

_Row = TypeVar("_Row", bound=tuple[str, ...])


def _make_row_locator(table: str) -> RowLocator:
    """Return a function that formats the location of a row of `table` as `TABLE[ROW]`."""
    return lambda row: f"{table}[{row}]"


@dataclass(frozen=True, eq=False)
class InMemoryKB(ValueCache):
    """A knowledge base of redirects, same-as pairs, superclasses, entities and their properties.

    Redirects and same-as pairs apply to entities only; class ids stay unchanged. Different spellings of one id in the
    tables are equivalent.
    """

    name: str
    """Name in reports and signatures."""
    hierarchy: Hierarchy
    """Classes with their superclasses."""
    _canonical: Mapping[str, str] = field(repr=False)
    _entities: frozenset[str] | None = field(repr=False)
    _names: Mapping[str, str] = field(repr=False)
    _aliases: Mapping[str, frozenset[str]] = field(repr=False)
    _types: Mapping[str, frozenset[str]] = field(repr=False)
    _popular: Mapping[str, frozenset[str]] = field(repr=False)
    _demonyms: frozenset[str] | None = field(repr=False)
    _redirect_ends: Mapping[str, str] = field(default_factory=dict, repr=False)
    _table_ids: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _ambiguous_ids: frozenset[str] = field(default=frozenset(), repr=False)

    @classmethod
    def from_tables(
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
        where: Callable[[str], RowLocator] = _make_row_locator,
    ) -> InMemoryKB:
        """Build a knowledge base from tables; raise `InputError` on the first defect.

        `redirects`: pairs (from, to). `same_as`: pairs of equivalent ids; an item of Wikidata, or else the smallest id
        in string order, becomes canonical, after redirects; pairs that would merge two entities are not applied, and
        their ids are ambiguous (see `karat.kb.ids.equivalence_classes`). `subclass_of`: pairs (class, superclass).
        `entities`: all ids of the knowledge base; None if unknown, whereas an empty table says that there are none.
        `names` and `types`: by id; an entity with several ids has the types of all of them, and the name of its
        canonical id or else of the smallest. `aliases`: pairs (id, alias). `popular`: most frequent entities by
        surface. `demonyms`: surfaces; None if unknown. `where`: returns, for a table name, a function from row to
        location in messages.
        """
        redirect_rows = _check_rows(
            redirects.items() if isinstance(redirects, Mapping) else redirects, where("redirects")
        )
        same_as_rows = _check_rows(same_as, where("same_as"))
        class_rows = _check_rows(subclass_of, where("subclass_of"))
        listed_ids = None if entities is None else _check_ids(entities, where("entities"))
        table_ids = {
            table: frozenset(chain.from_iterable(rows))
            for table, rows in (("redirects", redirect_rows), ("same_as", same_as_rows))
            if rows
        }
        spellings = _find_spellings(table_ids, listed_ids or names or types or ())
        ends = _follow_redirects(respell_pairs(redirect_rows, spellings), redirect_rows, where("redirects"))
        equivalence = merge_equivalent_ids(
            ends, respell_pairs(same_as_rows, spellings), frozenset(listed_ids or ()), order_key
        )
        canonical = dict(equivalence.canonical)
        canonical.update((id, canonical.get(other, other)) for id, other in spellings.items())
        ends.update((id, ends[other]) for id, other in spellings.items() if other in ends)
        ambiguous_ids = equivalence.conflict_index.keys()
        respelled_ids = {id for id, other in spellings.items() if other in ambiguous_ids}
        entity_ids = None if listed_ids is None else frozenset([canonical.get(id, id) for id in listed_ids])
        return cls(
            name,
            Hierarchy.from_pairs(class_rows, where=where("subclass_of")),
            canonical,
            entity_ids,
            _collect_names(names or {}, canonical, where("names")),
            _collect_aliases(aliases, canonical, where("aliases")),
            _collect_types(types or {}, canonical, where("types")),
            _collect_popular(popular or {}, canonical, where("popular")),
            None if demonyms is None else _check_surfaces(demonyms, where("demonyms")),
            ends,
            table_ids,
            frozenset(ambiguous_ids | respelled_ids),
        )

    def canonical_ids(self, ids: Sequence[str]) -> list[str]:
        """Return the canonical id of each id; an unknown id is returned unchanged."""
        if not self._canonical:
            return list(ids)
        return [self._canonical.get(id, id) for id in ids]

    def id_statuses(self, ids: Sequence[str]) -> list[IdStatus]:
        """Return the status of each id.

        Without a table of entities, only ids in redirects and same-as pairs are known.
        """
        known_ids = self._entities if self._entities is not None else frozenset(self._canonical.values())
        if not self._canonical and not self._ambiguous_ids:
            return [IdStatus.UNCHANGED if id in known_ids else IdStatus.UNKNOWN for id in ids]
        return [
            self._get_status(id, canonical_id, known_ids)
            for id, canonical_id in zip(ids, self.canonical_ids(ids), strict=True)
        ]

    def _get_status(self, id: str, canonical_id: str, known_ids: frozenset[str]) -> IdStatus:
        """Return the status of `id` from its canonical id; `known_ids` are canonical."""
        if id in self._ambiguous_ids:
            return IdStatus.AMBIGUOUS
        if canonical_id not in known_ids:
            return IdStatus.UNKNOWN
        if id in self._redirect_ends:
            return IdStatus.REDIRECTED
        return IdStatus.UNCHANGED if id == canonical_id else IdStatus.MAPPED

    def redirect_targets(self, ids: Sequence[str]) -> list[str | None]:
        """Return the end of the redirects from each id; None if it does not redirect."""
        return list(map(self._redirect_ends.get, ids))

    @property
    def identity_tables(self) -> dict[str, int]:
        """Number of ids in each table that makes ids equivalent (`redirects`, `same_as`), without empty tables."""
        return {table: len(ids) for table, ids in self._table_ids.items()}

    def find_used_tables(self, ids: Iterable[str]) -> frozenset[str]:
        """Return the tables among `identity_tables` that have one of the ids, as written."""
        queried_ids = frozenset(ids)
        return frozenset(table for table, members in self._table_ids.items() if not members.isdisjoint(queried_ids))

    def find_spelling(self, id: str, context: IdContext = DEFAULT_CONTEXT) -> str | None:
        """Return an id of the redirects and same-as pairs that means the same as `id`, as they write it; else None.

        `context`: how the ids of the data are meant.
        """
        return self._spelling_index.find(id, context)

    @cached_property
    def _spelling_index(self) -> SpellingIndex:
        """Ids of the redirects and same-as pairs by key."""
        return SpellingIndex.from_ids(chain.from_iterable(self._table_ids.values()))

    def contains(self, ids: Sequence[str]) -> list[bool] | None:
        """Return whether each id leads to an entity of the table; None (no list) if there is no such table."""
        entities = self._entities
        return None if entities is None else [id in entities for id in self.canonical_ids(ids)]

    def names(self, ids: Sequence[str]) -> list[str | None]:
        """Return the name of the entity that each id leads to; None if unknown."""
        return list(map(self._names.get, self.canonical_ids(ids)))

    def aliases(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the aliases of the entity that each id leads to; None if it has none in the table."""
        return list(map(self._aliases.get, self.canonical_ids(ids)))

    def types(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the types of the entity that each id leads to; None if unknown, the empty set if it has none."""
        return list(map(self._types.get, self.canonical_ids(ids)))

    def popular_entities(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the canonical ids of the most frequent entities of each surface; None if it is not in the table."""
        return list(map(self._popular.get, surfaces))

    def candidate_entities(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """Return all entities of each surface, by names, aliases and popular entities; None if there is none."""
        return list(map(self._candidates.get, surfaces))

    @cached_property
    def _candidates(self) -> dict[str, frozenset[str]]:
        """Entities by surface, from the tables of names, aliases and popular entities."""
        entities = {surface: set(ids) for surface, ids in self._popular.items()}
        for id, name in self._names.items():
            entities.setdefault(name, set()).add(id)
        for id, aliases in self._aliases.items():
            for alias in aliases:
                entities.setdefault(alias, set()).add(id)
        return {surface: frozenset(ids) for surface, ids in entities.items()}

    def may_be_popular(self, ids: Sequence[str]) -> list[bool]:
        """Return whether each id could be in the table of popular entities, because some id there is written alike.

        Two ids are written alike if they have the same pattern, such as Q and a number (see
        `karat.kb.ids.id_patterns`). An id of another pattern than all popular entities cannot be compared with them, so
        its popularity is unknown.
        """
        patterns = [id_pattern(id) for id in ids]
        missing, popular = set(patterns) - self._foreign_patterns, chain.from_iterable(self._popular.values())
        while (
            missing and (id := next(popular, None)) is not None
        ):  # ends soon if the ids are of the same kind as the table's
            missing.discard(id_pattern(id))
        self._foreign_patterns.update(missing)
        return [pattern not in self._foreign_patterns for pattern in patterns]

    @cached_property
    def _foreign_patterns(self) -> set[str]:
        """Id patterns that no popular entity has, as far as `may_be_popular` searched for them."""
        return set()

    def are_demonyms(self, surfaces: Sequence[str]) -> list[bool | None]:
        """Return whether each surface is in the table of demonyms; None if there is no such table."""
        demonyms = self._demonyms
        return [None if demonyms is None else surface in demonyms for surface in surfaces]

    @cached_property
    def digest(self) -> str:
        """Eight hexadecimal digits that identify the content, independent of the order and number of rows.

        The digest distinguishes versions; it does not protect against forgery.
        """
        facts = chain(map(str.encode, self._iterate_identity_facts()), self._encode_tables())
        total = sum(int.from_bytes(blake2b(fact, digest_size=8).digest()) for fact in facts)
        return f"{total & 0xFFFFFFFF:08x}"

    def _iterate_identity_facts(self) -> Iterator[str]:
        """Yield each pair of an id and its canonical id, each ambiguous id, and each superclass, once, as text."""
        for id, target in self._canonical.items():
            yield f"canonical\0{id}\0{target}"
        for id in self._ambiguous_ids:
            yield f"ambiguous\0{id}"
        for cls, superclasses in self.hierarchy.superclasses.items():
            for target in superclasses:
                yield f"subclass_of\0{cls}\0{target}"

    def _encode_tables(self) -> Iterator[bytes]:
        """Yield every other table that has rows as sorted JSON, one item per table; row by row would take too long."""
        for table, members in (("entities", self._entities), ("demonyms", self._demonyms)):
            if members is not None:
                yield msgspec.json.encode((table, sorted(members)))
        ids = sorted(self._names)
        if ids:  # an empty table and no table behave alike
            yield msgspec.json.encode(("names", ids, [self._names[id] for id in ids]))
        for table, sets in (("aliases", self._aliases), ("types", self._types), ("popular", self._popular)):
            if sets:
                sorted_members = {
                    members_of_key: sorted(members_of_key) for members_of_key in set(sets.values())
                }  # many are the same
                keys = sorted(sets)
                yield msgspec.json.encode((table, keys, [sorted_members[sets[key]] for key in keys]))


def _check_rows(rows: Iterable[_Row], where: RowLocator) -> list[_Row]:
    """Return the rows as a list; raise `InputError` at the location `where(row)` if a cell is empty or blank."""
    checked = list(rows)
    for row, ids in enumerate(checked):
        if not all(map(str.strip, ids)):
            raise _empty_id_error(where(row))
    return checked


def _check_ids(ids: Iterable[str], where: RowLocator) -> list[str]:
    """Return the ids as a list; raise `InputError` at the location `where(row)` if one is empty or blank."""
    checked = list(ids)
    if not all(map(str.strip, checked)):
        raise _empty_id_error(where(next(row for row, id in enumerate(checked) if not id.strip())))
    return checked


def _empty_id_error(where: str) -> InputError:
    """Return the error about an empty id at the location `where`."""
    return InputError(where, actual="an empty id", expected="an id", remedy="Fill it in, or delete the row")


def _find_spellings(table_ids: Mapping[str, frozenset[str]], entities: Iterable[str]) -> dict[str, str]:
    """Return the spelling that represents each id of the redirects and same-as pairs that is written in several ways.

    `entities`: ids of the other tables, one of which represents its spellings.
    """
    if not table_ids:
        return {}
    entity_ids = frozenset(entities)
    ids = sorted(frozenset().union(*table_ids.values()) | entity_ids)
    return SpellingIndex.from_ids(ids).group(ids, entity_ids)


def _follow_redirects(
    redirects: Sequence[tuple[str, str]], written_rows: Sequence[tuple[str, str]], where: RowLocator
) -> dict[str, str]:
    """Return the end of the redirect chain of each redirected id, from pairs (from, to).

    `written_rows`: the pairs as the table writes them. A redirect from one spelling of an id to another says nothing.
    Raise `InputError` if an id has two different targets or the redirects form a cycle.
    """
    targets: dict[str, str] = {}
    for row, (id, to) in enumerate(redirects):
        if id == to and written_rows[row][0] != written_rows[row][1]:
            continue
        if targets.setdefault(id, to) != to:
            before = where(redirects.index((id, targets[id])))
            raise InputError(
                where(row),
                actual=f"a redirect from {id!r} to {to!r}, and one to {targets[id]!r} at {before}",
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
            raise cycle_error(ids[ids.index(id) :], redirects, where, "redirects without cycles")
        ends.update(dict.fromkeys(path, ends.get(id, id)))
    return ends


def _collect_names(names: Mapping[str, str], canonical: Mapping[str, str], where: RowLocator) -> dict[str, str]:
    """Return the name of each entity by canonical id: that of its canonical id, or else of its smallest id with a name.

    `names`: name by id. `canonical`: canonical id by other id. `where`: function from row number to the location in
    messages. Entities without a name are absent. Raise `InputError` if an id is empty.
    """
    _check_ids(names, where)
    entity_names = {id: name for id, name in names.items() if name and id not in canonical}
    for id in sorted(names.keys() & canonical.keys()):
        if names[id]:
            entity_names.setdefault(canonical[id], names[id])
    return entity_names


def _collect_aliases(
    aliases: Iterable[tuple[str, str]], canonical: Mapping[str, str], where: RowLocator
) -> dict[str, frozenset[str]]:
    """Return the aliases of each entity by canonical id: the aliases of all its ids together.

    `aliases`: pairs (id, alias). `canonical`: canonical id by other id. `where`: function from row number to the
    location in messages. Raise `InputError` if an id or alias is empty.
    """
    entity_aliases: dict[str, set[str]] = {}
    for row, (id, alias) in enumerate(aliases):
        if not id.strip():
            raise _empty_id_error(where(row))
        if not alias.strip():
            raise InputError(
                where(row), actual="an empty alias", expected="an alias", remedy="Fill it in, or delete the row"
            )
        entity_aliases.setdefault(canonical.get(id, id), set()).add(alias)
    return {id: frozenset(alias_set) for id, alias_set in entity_aliases.items()}


def _collect_types(
    types: Mapping[str, Iterable[str]], canonical: Mapping[str, str], where: RowLocator
) -> dict[str, frozenset[str]]:
    """Return the types of each entity by canonical id: the types of all its ids together.

    `types`: types by id. `canonical`: canonical id by other id. `where`: function from row number to the location in
    messages. Raise `InputError` if an id or type is empty.
    """
    _check_ids(types, where)
    entity_types: dict[str, frozenset[str]] = {}
    for row, (id, type_ids) in enumerate(types.items()):
        own_types = frozenset(type_ids)
        if "" in own_types:
            raise InputError(where(row), actual="an empty type", expected="types", remedy="Fill it in, or delete it")
        id = canonical.get(id, id)
        entity_types[id] = own_types | entity_types[id] if id in entity_types else own_types
    return entity_types


def _collect_popular(
    popular: Mapping[str, Iterable[str]], canonical: Mapping[str, str], where: RowLocator
) -> dict[str, frozenset[str]]:
    """Return the canonical ids of the most frequent entities of each surface.

    `popular`: ids by surface. `canonical`: canonical id by other id. `where`: function from row number to the location
    in messages. Raise `InputError` if a surface has no entity, or if a surface or id is empty.
    """
    _check_surfaces(popular, where)
    entities: dict[str, frozenset[str]] = {}
    for row, (surface, ids) in enumerate(popular.items()):
        entities[surface] = frozenset([canonical.get(id, id) for id in ids]) if canonical else frozenset(ids)
        if not entities[surface] or not all(map(str.strip, entities[surface])):
            raise _empty_id_error(where(row))
    return entities


def _check_surfaces(surfaces: Iterable[str], where: RowLocator) -> frozenset[str]:
    """Return the distinct surfaces; raise `InputError` at the location `where(row)` if one is empty."""
    checked = list(surfaces)
    if "" in checked:
        raise InputError(
            where(checked.index("")),
            actual="an empty surface",
            expected="a surface",
            remedy="Fill it in, or delete the row",
        )
    return frozenset(checked)
