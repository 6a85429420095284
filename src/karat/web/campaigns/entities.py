"""Entities as judges see them, cached because a knowledge base is too slow for fifty judges at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from karat.kb.ids.id_spaces import WIKIDATA, parse_id_key
from karat.kb.ids.wikipedia_languages import WIKIPEDIA_LANGUAGES
from karat.kb.protocol import IdStatus
from karat.kb.snapshot.snapshot import Snapshot
from karat.web.campaigns.payloads import EntityPayload, SearchPayload
from karat.web.server.request_checks import WebError

_MAX_CACHED: Final = 200_000  # entities that are kept ready
_MAX_SEARCHES: Final = 10_000  # searches that are
_MAX_RESULTS: Final = 10  # entities that a search gives
_MAX_QUERY: Final = 2000  # characters of a query, which may be an address

_ID_SPACES: Final = frozenset({WIKIDATA, "freebase", "umls"})
_LEADS_TO_ENTITY: Final = frozenset({IdStatus.UNCHANGED, IdStatus.MAPPED, IdStatus.REDIRECTED})
_WEB: Final = r"(?:https?://)?"
_WEB_ADDRESS: Final = re.compile(r"https?://[^\s/]+\S*")
_ITEM: Final = re.compile(r"[Qq][1-9][0-9]*")
_ITEM_ADDRESS: Final = re.compile(
    rf"{_WEB}(?:www\.|m\.)?wikidata\.org/(?:entity|wiki)/(?:Special:Entity(?:Data|Page)/)?(Q[1-9][0-9]*)\b",
    re.IGNORECASE,
)
_PAGE_ADDRESS: Final = re.compile(rf"{_WEB}(?:[a-z-]+\.)*(?:wikipedia|dbpedia)\.org/[^?#\s]*", re.IGNORECASE)
_TITLE_PARAMETER: Final = re.compile(
    rf"({_WEB}(?:[a-z-]+\.)*wikipedia\.org/)w/index\.php\?(?:[^#\s]*&)?title=([^&#\s]+)", re.IGNORECASE
)


class EntityLookup:
    """Cached look-up of entities in a snapshot; without a snapshot, entities have an id and no name."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        self._snapshot, self._cache = snapshot, dict[str, EntityPayload]()
        self._search = lru_cache(_MAX_SEARCHES)(self._find_entities)

    @property
    def can_search(self) -> bool:
        """Whether there is a snapshot to search in."""
        return self._snapshot is not None

    def get_entities(self, ids: Iterable[str]) -> dict[str, EntityPayload]:
        """Return the entities with these ids, by id; unknown ids give entities without name."""
        wanted = list(dict.fromkeys(ids))
        cached = {id: self._cache[id] for id in wanted if id in self._cache}
        new = {id.id: id for id in self._load_entities([id for id in wanted if id not in cached])}
        if len(self._cache) < _MAX_CACHED:
            self._cache.update(new)
        return {**cached, **new}

    def resolve(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the id of the entity in the snapshot for each id or address that it knows.

        An address that it does not know gives the id in the address.
        """
        addresses = {id: parse_address(id) for id in ids}
        if self._snapshot is None:
            return {id: address for id, address in addresses.items() if address != id}
        columns = list(addresses.values())
        statuses, canonical = self._snapshot.id_statuses(columns), self._snapshot.canonical_ids(columns)
        return {
            id: entity
            for (id, address), status, entity in zip(addresses.items(), statuses, canonical, strict=True)
            if status in _LEADS_TO_ENTITY or address != id
        }

    def search(self, text: str) -> tuple[EntityPayload, ...]:
        """Return at most ten entities for a text.

        The entity of an id or address comes first, also if the snapshot does not know it. Then come entities with
        exactly this name, names that start or end with the text, and similar names, each most popular first.
        """
        return self._search(text.strip())

    def _find_entities(self, text: str) -> tuple[EntityPayload, ...]:
        """Search the snapshot, as `search` without its cache."""
        ids = list(self._find_ids(text))
        index = None if self._snapshot is None else self._snapshot.name_index
        if index is not None and text:
            for find in (
                index.find_exact,
                index.find_equal,
                index.find_by_prefix,
                index.find_by_last_words,
                index.find_similar,
            ):
                if len(ids) < _MAX_RESULTS:
                    ids += (match.id for match in find(text, _MAX_RESULTS) if match.id not in ids)
        entities = self.get_entities(ids[:_MAX_RESULTS])
        return tuple(entities[id] for id in ids[:_MAX_RESULTS])

    def _find_ids(self, text: str) -> Iterator[str]:
        """Yield the id that a text is or whose address it is: as in the snapshot if it knows the id, or as typed."""
        id = parse_address(text)
        if not id:
            return
        status = IdStatus.UNKNOWN if self._snapshot is None else self._snapshot.id_statuses([id])[0]
        is_name = " " in id or (status is IdStatus.MAPPED and parse_id_key(id) is None)  # a title of a page
        if self._snapshot is not None and status in _LEADS_TO_ENTITY and not is_name:
            yield self._snapshot.canonical_ids([id])[0]
        elif is_address(id):
            yield id

    def _load_entities(self, ids: Sequence[str]) -> list[EntityPayload]:
        """Read entities from the snapshot, in the order of `ids`."""
        if self._snapshot is None or not ids:
            return [EntityPayload(id, None, None, (), _get_page_url(id)) for id in ids]
        types = self._snapshot.types(ids)
        classes = sorted({type_id for entity_types in types for type_id in entity_types or ()})
        names = dict(zip(classes, self._snapshot.names(classes), strict=True))
        columns = zip(ids, self._snapshot.names(ids), self._snapshot.descriptions(ids), types, strict=True)
        return [
            EntityPayload(
                id,
                name,
                description,
                tuple(names[type_id] or type_id for type_id in sorted(entity_types or ())),
                _get_page_url(id),
            )
            for id, name, description, entity_types in columns
        ]


def search_entities(lookup: EntityLookup, query: str) -> SearchPayload:
    """Return the entities that match the query of a request; raise `WebError` if it is too long."""
    if len(query) > _MAX_QUERY:
        raise WebError("bad-request", f"the query exceeds {_MAX_QUERY:,} characters. Shorten it.")
    return SearchPayload(lookup.search(query))


def parse_address(text: str) -> str:
    """Return the id that a text contains if it is an address as copied from a browser, and else the text.

    Parameters and fragments of the addresses of Wikidata, Wikipedia and DBpedia are removed.
    """
    text = text.strip().removeprefix("<").removesuffix(">")
    if _ITEM.fullmatch(text):
        return text.upper()
    match = _ITEM_ADDRESS.match(text)
    if match is not None:
        return match[1].upper()
    match = _TITLE_PARAMETER.match(text)
    if match is not None:
        text = f"{match[1]}wiki/{match[2]}"
    match = _PAGE_ADDRESS.match(text)
    return text if match is None else match[0]


def is_address(text: str) -> bool:
    """Return whether a text is an id of Wikidata, Wikipedia, DBpedia or another known space, or a web address."""
    if _WEB_ADDRESS.fullmatch(text):
        return True
    key = parse_id_key(text)
    return key is not None and (key.space in _ID_SPACES or key.space.endswith("wiki"))


def _get_page_url(id: str) -> str | None:
    """Return the address of a Wikidata item or Wikipedia page; None for an entity of another id space."""
    key = parse_id_key(id)
    if key is None:
        return None
    if key.space == WIKIDATA:
        return f"https://www.wikidata.org/wiki/{key.local_id}"
    language = key.space.removesuffix("wiki")
    if language in WIKIPEDIA_LANGUAGES and language != key.space:
        return f"https://{language}.wikipedia.org/wiki/{quote(key.local_id.replace(' ', '_'))}"
    return None
