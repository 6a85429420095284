"""Entities as judges see them, cached because a knowledge base is too slow for fifty judges at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from karat.kb.ids.id_spaces import parse_id_key
from karat.kb.snapshot.snapshot import Snapshot
from karat.web.judging.payloads import EntityPayload

_MAX_CACHED: Final = 200_000  # entities that are kept ready
_MAX_SEARCHES: Final = 10_000  # searches that are
_MAX_RESULTS: Final = 10  # entities that a search gives


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

    def search(self, text: str) -> tuple[EntityPayload, ...]:
        """Return at most ten entities whose names start with `text`, most popular first, or else with similar names."""
        return self._search(text.strip())

    def _find_entities(self, text: str) -> tuple[EntityPayload, ...]:
        """Search the snapshot, as `search` without its cache; empty without a name index or text."""
        index = None if self._snapshot is None else self._snapshot.name_index
        if index is None or not text:
            return ()
        matches = index.find_by_prefix(text, _MAX_RESULTS) or index.find_similar(text, _MAX_RESULTS)
        return tuple(self.get_entities(match.id for match in matches).values())

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


def _get_page_url(id: str) -> str | None:
    """Return the address of a Wikidata item; None for an entity of another id space."""
    key = parse_id_key(id)
    return f"https://www.wikidata.org/wiki/{key.local_id}" if key is not None and key.space == "wikidata" else None
