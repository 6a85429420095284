"""What judges are shown of entities, looked up once: a knowledge base answers slower than fifty people ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from karat.judging.shape import EntityShown
from karat.kb.pack.pack import Pack
from karat.kb.spaces import key_of

_KEPT: Final = 200_000  # entities that are kept ready
_SEARCHES: Final = 10_000  # searches that are
_FOUND: Final = 10  # entities that a search gives


class ShownEntities:
    """Entities as judges see them; without a pack they are ids."""

    def __init__(self, pack: Pack | None) -> None:
        self._pack, self._known = pack, dict[str, EntityShown]()
        self._search = lru_cache(_SEARCHES)(self._searched)

    @property
    def searchable(self) -> bool:
        """Whether there is something to search in."""
        return self._pack is not None

    def of(self, ids: Iterable[str]) -> dict[str, EntityShown]:
        """Some entities by their ids."""
        wanted = list(dict.fromkeys(ids))
        found = {one: self._known[one] for one in wanted if one in self._known}
        new = {one.id: one for one in self._looked_up([one for one in wanted if one not in found])}
        if len(self._known) < _KEPT:
            self._known.update(new)
        return {**found, **new}

    def found(self, text: str) -> tuple[EntityShown, ...]:
        """Entities whose names begin so, most popular first; or are near it where none does."""
        return self._search(text.strip())

    def _searched(self, text: str) -> tuple[EntityShown, ...]:
        index = None if self._pack is None else self._pack.index
        if index is None or not text:
            return ()
        found = index.beginning(text, _FOUND) or index.near(text, _FOUND)
        return tuple(self.of(each.id for each in found).values())

    def _looked_up(self, ids: Sequence[str]) -> list[EntityShown]:
        if self._pack is None or not ids:
            return [EntityShown(one, None, None, (), _link(one)) for one in ids]
        types = self._pack.types(ids)
        classes = sorted({one for own in types for one in own or ()})
        named = dict(zip(classes, self._pack.names(classes), strict=True))
        columns = zip(ids, self._pack.names(ids), self._pack.descriptions(ids), types, strict=True)
        return [
            EntityShown(id, name, said, tuple(named[one] or one for one in sorted(own or ())), _link(id))
            for id, name, said, own in columns
        ]


def _link(id: str) -> str | None:
    """Where people read about an entity; known knowledge bases only."""
    key = key_of(id)
    return f"https://www.wikidata.org/wiki/{key.local}" if key is not None and key.space == "wikidata" else None
