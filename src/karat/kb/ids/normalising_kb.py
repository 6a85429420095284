"""A view of a knowledge base for ids in normal form, as the setting `ids` defines it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

import msgspec

from karat.kb.hierarchy import Hierarchy
from karat.kb.ids.normal_forms import (
    DEFAULT_CONTEXT,
    NORMALISERS,
    IdContext,
    express_item,
    find_page_of_resource,
    find_page_of_title,
    find_resource_of_page,
    normalise_id,
    parse_id,
    recognise_id,
)
from karat.kb.in_memory_kb import InMemoryKB
from karat.kb.protocol import KB, IdStatus
from karat.model.caches.value_cache import ValueCache
from karat.model.spec.settings.conventions import Ids

_T = TypeVar("_T")

_MAX_SHARED_IDS = 1_000_000  # resolved ids beyond which new views of a base start without any


def wrap_kb(kb: KB, mode: Ids) -> KB:
    """Return a view of `kb` that takes and returns ids in the normal form of `mode`, a value of the setting `ids`.

    `kb` itself is returned if ids stay as written under `mode`, or if `mode` uses no knowledge base.
    """
    return NormalisingKB(kb, mode) if mode in NORMALISERS and mode.uses_kb else kb


def unwrap_kb(kb: KB | None) -> KB | None:
    """Return the knowledge base behind a `NormalisingKB`; any other `kb`, or None, is returned unchanged."""
    return kb.base if isinstance(kb, NormalisingKB) else kb


class ResolvedIds(NamedTuple):
    """The ids that a knowledge base resolved so far, for all its views of one mode and context to share."""

    base_ids: dict[str, str]
    """Each id as the base spells it."""
    canonical_ids: dict[str, str]
    """The normal form of the canonical id of each id."""


class NormalisingKB(msgspec.Struct, frozen=True, eq=False):
    """A knowledge base that accepts every spelling of an id.

    The common spellings of the id's normal form are looked up in turn, and then the id as written, until the base knows
    a spelling. Canonical ids are normal forms. A Wikipedia page and the DBpedia resource of the same title and language
    are one entity under `ids=normalised`, unless the base tells them apart; so is a bare title if the context says of
    which Wikipedia it is.
    """

    base: KB
    """Knowledge base that holds the data."""
    mode: Ids
    """Value of the setting `ids`, which selects the normaliser."""
    context: IdContext = DEFAULT_CONTEXT
    """How the ids of the data are meant; ids of the base are meant as by themselves."""
    _resolved_ids: ResolvedIds = msgspec.field(default_factory=lambda: ResolvedIds({}, {}))

    def __post_init__(self) -> None:
        """Use the ids that other views of the base resolved."""
        msgspec.structs.force_setattr(self, "_resolved_ids", _share_resolved_ids(self.base, self.mode, self.context))

    def with_context(self, context: IdContext) -> NormalisingKB:
        """Return a view of the same base for data whose ids are meant as `context` says."""
        return self if context == self.context else NormalisingKB(self.base, self.mode, context)

    @property
    def name(self) -> str:
        """Name of the base."""
        return self.base.name

    @property
    def digest(self) -> str:
        """Digest of the base; the signature names the setting `ids` separately."""
        return self.base.digest

    @property
    def hierarchy(self) -> Hierarchy:
        """Classes of the base; their ids stay as written."""
        return self.base.hierarchy

    def canonical_ids(self, ids: Sequence[str]) -> list[str]:
        """Return the normal form of the canonical id of each id."""
        resolved = self._resolved_ids.canonical_ids
        new_ids = [id for id in dict.fromkeys(ids) if id not in resolved]
        if new_ids:
            canonical = zip(new_ids, self.base.canonical_ids(self.find_base_ids(new_ids)), strict=True)
            resolved.update((id, other if self._is_foreign(id) else self._express(other)) for id, other in canonical)
        return [resolved[id] for id in ids]

    def id_statuses(self, ids: Sequence[str]) -> list[IdStatus]:
        """Return the status of each id; an id that the base spells differently is mapped."""
        base_ids = self.find_base_ids(ids)
        rows = zip(ids, base_ids, self.base.id_statuses(base_ids), strict=True)
        return [
            IdStatus.MAPPED if status is IdStatus.UNCHANGED and spelling != id else status
            for id, spelling, status in rows
        ]

    def contains(self, ids: Sequence[str]) -> list[bool] | None:
        """Return whether each id leads to an entity; None (no list) if the base cannot list its entities."""
        return self.base.contains(self.find_base_ids(ids))

    def names(self, ids: Sequence[str]) -> list[str | None]:
        """Return the name of the entity that each id leads to; None if unknown."""
        return self.base.names(self.find_base_ids(ids))

    def aliases(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the aliases of the entity that each id leads to; None if no alias is known."""
        return self.base.aliases(self.find_base_ids(ids))

    def types(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the types of the entity that each id leads to; None if unknown, the empty set if it has none."""
        return self.base.types(self.find_base_ids(ids))

    def popular_entities(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the most frequent entities of each surface as normal forms; None if the surface is unknown."""
        return self._express_sets(self.base.popular_entities(surfaces))

    def candidate_entities(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """Return all entities of each surface as normal forms; None if there is none."""
        return self._express_sets(self.base.candidate_entities(surfaces))

    def _express_sets(self, id_sets: Iterable[frozenset[str] | None]) -> list[frozenset[str] | None]:
        """Return sets of ids of the base as normal forms; None stays None."""
        return [None if ids is None else frozenset(map(self._express, ids)) for ids in id_sets]

    def may_be_popular(self, ids: Sequence[str]) -> list[bool]:
        """Return for each canonical id whether it could occur in a result of `popular_entities`.

        True if this holds for any spelling of the id in the wrapped knowledge base.
        """
        spellings = [tuple(self._iterate_spellings(id)) for id in ids]
        distinct = list(dict.fromkeys(chain.from_iterable(spellings)))
        answers = dict(zip(distinct, self.base.may_be_popular(distinct), strict=True))  # one query: each may be slow
        return [any(answers[spelling] for spelling in id_spellings) for id_spellings in spellings]

    def are_demonyms(self, surfaces: Sequence[str]) -> list[bool | None]:
        """Return whether each surface is a demonym; None if the base has no table of demonyms."""
        return self.base.are_demonyms(surfaces)

    def find_base_ids(self, ids: Sequence[str]) -> list[str]:
        """Return each id as the base spells it; its normal form if the base knows no spelling. Results are cached."""
        base_ids = self._resolved_ids.base_ids
        new_ids = [id for id in dict.fromkeys(ids) if id not in base_ids]
        pending = {id: chain(self._iterate_spellings(id), [id]) for id in new_ids}
        spellings = {id: self._normalise_unknown(id) for id in new_ids}
        while pending:
            attempts = {id: spelling for id, rest in pending.items() if (spelling := next(rest, None)) is not None}
            hits = self._check_known(list(attempts.values()))
            spellings.update(
                (id, spelling) for (id, spelling), is_hit in zip(attempts.items(), hits, strict=True) if is_hit
            )
            unknown_ids = pending.keys() - attempts.keys()
            spellings.update(self._find_table_spellings(unknown_ids))
            pending = {id: pending[id] for id, is_hit in zip(attempts, hits, strict=True) if not is_hit}
        base_ids.update(spellings)  # only now, since other threads take them for final
        return [base_ids[id] for id in ids]

    def _find_table_spellings(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the spellings by which redirects and same-as pairs in tables mean ids, in no common spelling."""
        if not isinstance(self.base, InMemoryKB):
            return {}
        spellings: dict[str, str] = {}
        for id in ids:
            titles = () if self._is_foreign(id) else self._list_titles(self._normalise(id))
            matches = (self.base.find_spelling(name, self.context) for name in (id, *titles))
            if (spelling := next(filter(None, matches), None)) is not None:
                spellings[id] = spelling
        return spellings

    def _list_titles(self, id: str) -> tuple[str, ...]:
        """Return an id, then the page or resource with the same title and language, if any."""
        twin = find_page_of_resource(id) or find_resource_of_page(id)
        return (id,) if twin is None else (id, twin)

    def _find_page_of_title(self, id: str) -> str | None:
        """Return the page that a bare title names under `ids=normalised`; None for other ids and modes."""
        return find_page_of_title(id, self.context) if self.mode is Ids.NORMALISED else None

    def _iterate_spellings(self, id: str) -> Iterator[str]:
        """Yield the common spellings of an id, its normal form first; none of an id that the context excludes."""
        if self._is_foreign(id):
            return iter(())
        normal_form, iterate_spellings = self._normalise(id), NORMALISERS[self.mode].iterate_spellings
        if self.mode is not Ids.NORMALISED:
            return iterate_spellings(normal_form)
        page = self._find_page_of_title(normal_form)
        forms = self._list_titles(normal_form) if page is None else (normal_form, *self._list_titles(page))
        return chain.from_iterable(map(iterate_spellings, forms))

    def _is_foreign(self, id: str) -> bool:
        """Return whether the context says that an id is none of Wikidata or Wikipedia, as it could be by itself."""
        return self.mode is Ids.NORMALISED and parse_id(id) is not None and recognise_id(id, self.context) is None

    def _normalise(self, id: str) -> str:
        """Return the normal form of an id of the data, in which an item is a plain QID; see `_express`."""
        context = self.context
        if self._is_foreign(id):
            return id
        return normalise_id(id, self.mode, context._replace(bare_items=True))

    def _normalise_unknown(self, id: str) -> str:
        """Return the normal form of an id that the base does not know; of a resource or title, that of its page."""
        normal_form = self._normalise(id)
        if self.mode is not Ids.NORMALISED or self._is_foreign(id):
            return normal_form
        return find_page_of_resource(normal_form) or self._find_page_of_title(normal_form) or normal_form

    def _express(self, id: str) -> str:
        """Return the normal form of an id of the base as the data write it."""
        normal_form = normalise_id(id, self.mode, self.context._replace(bare_items=True))
        return express_item(normal_form, self.context) if self.mode is Ids.NORMALISED else normal_form

    def _check_known(self, ids: Sequence[str]) -> list[bool]:
        """Return whether the base knows each id as written: as an entity, by name or types, or as another's equal."""
        base = self.base
        memberships = base.contains(ids) or [False] * len(ids)
        facts = zip(
            ids,
            base.canonical_ids(ids),
            memberships,
            _check_present(base.names(ids)),
            _check_present(base.types(ids)),
            strict=True,
        )
        return [other != id or any(flags) for id, other, *flags in facts]


def _check_present(facts: Sequence[_T | None]) -> list[bool]:
    """Return for each fact whether it is known, that is, not None."""
    return [fact is not None for fact in facts]


def _share_resolved_ids(base: KB, mode: Ids, context: IdContext) -> ResolvedIds:
    """Return the ids that a knowledge base resolved so far; they are cached with it if its class caches values."""
    if not isinstance(base, ValueCache):
        return ResolvedIds({}, {})
    shared: dict[tuple[Ids, IdContext], ResolvedIds] = base.get_or_compute("resolved ids", dict)
    if sum(len(resolved.base_ids) for resolved in shared.values()) > _MAX_SHARED_IDS:
        shared.clear()  # views that use them keep them
    return shared.setdefault((mode, context), ResolvedIds({}, {}))
