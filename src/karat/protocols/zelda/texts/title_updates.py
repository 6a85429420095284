"""Updating of titles by a knowledge base: moved titles are renamed, dead ones detected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from karat.kb.ids.id_spaces import parse_id_key
from karat.kb.protocol import KB, IdStatus

_CACHE_SIZE = 1 << 20  # cached titles, to bound memory


@dataclass(slots=True)
class TitleUpdater:
    """Lookup of current titles in a knowledge base; without one titles stay unchanged.

    A title is dead if the knowledge base lists all entities and does not have it, or if it is a disambiguation page. A
    knowledge base whose ids are not titles detects dead titles but renames none.
    """

    kb: KB | None = None
    """Knowledge base."""
    _cache: dict[str, str | None] = field(default_factory=dict)

    def find_current_titles(self, titles: Sequence[str]) -> list[str | None]:
        """Return the current title for each title, in order; None if it is dead. Results are cached."""
        if self.kb is None:
            return list(titles)
        new = [title for title in dict.fromkeys(titles) if title not in self._cache]
        if new:
            if len(self._cache) + len(new) > _CACHE_SIZE:
                self._cache.clear()
                new = list(dict.fromkeys(titles))
            self._cache.update(zip(new, self._look_up(self.kb, new), strict=True))
        return [self._cache[title] for title in titles]

    @staticmethod
    def _look_up(kb: KB, titles: list[str]) -> list[str | None]:
        """Return the current title for each title from the knowledge base; None if it is dead."""
        contained, statuses, ids = kb.contains(titles), kb.id_statuses(titles), kb.canonical_ids(titles)
        exists = contained if contained is not None else [True] * len(titles)
        return [
            None if not is_known or status is IdStatus.DISAMBIGUATION else _title_from_id(id, title)
            for title, id, status, is_known in zip(titles, ids, statuses, exists, strict=True)
        ]


def _title_from_id(id: str, title: str) -> str:
    """Return the title in a Wikipedia id, with spaces; for an id of another space the unchanged `title`."""
    key = parse_id_key(id)
    if key is None:
        return id.replace("_", " ")
    return key.local_id.replace("_", " ") if key.space.endswith("wiki") else title
