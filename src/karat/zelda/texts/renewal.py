"""Titles as a knowledge base has them now: moved ones renewed, dead ones found out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from karat.kb.protocol import KB, Standing
from karat.kb.spaces import key_of

_KEPT = 1 << 20  # titles that are remembered, so that memory is bounded


@dataclass(slots=True)
class Renewal:
    """What becomes of titles; without knowledge base each stays what it is.

    A title is dead if the knowledge base knows all entities and this is none of them, and so is one of a disambiguation
    page: it stands for nothing. A knowledge base whose ids are no titles tells the dead ones but renews none.
    """

    kb: KB | None = None
    _known: dict[str, str | None] = field(default_factory=dict)

    def of(self, titles: Sequence[str]) -> list[str | None]:
        """For each title the one that stands for it now, None where it is dead."""
        if self.kb is None:
            return list(titles)
        new = [title for title in dict.fromkeys(titles) if title not in self._known]
        if new:
            if len(self._known) + len(new) > _KEPT:
                self._known.clear()
                new = list(dict.fromkeys(titles))
            self._known.update(zip(new, self._asked(self.kb, new), strict=True))
        return [self._known[title] for title in titles]

    @staticmethod
    def _asked(kb: KB, titles: list[str]) -> list[str | None]:
        has, standings, ids = kb.has(titles), kb.standings(titles), kb.canonical(titles)
        known = has if has is not None else [True] * len(titles)
        return [
            None if not there or how is Standing.DISAMBIGUATION else _title(id, title)
            for title, id, how, there in zip(titles, ids, standings, known, strict=True)
        ]


def _title(id: str, title: str) -> str:
    """The title that an id is; an id of another space leaves the title as it was."""
    key = key_of(id)
    if key is None:
        return id.replace("_", " ")
    return key.local.replace("_", " ") if key.space.endswith("wiki") else title
