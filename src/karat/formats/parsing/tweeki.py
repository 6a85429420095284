"""Links in the notation of both TWEEKI files."""

from __future__ import annotations

from collections import Counter

from karat.model.document import UNLINKED, Label

NO_LINK = "-"


def parse_label(start: int, end: int, link: str, types: tuple[str, ...], skipped: Counter[str]) -> Label:
    """Return the label of a mention with the link `NAME|QID`, or an unlinked label if `link` is `-`.

    The name is Wikidata's label, not a Wikipedia title. White space around the id is removed and counted in `skipped`.
    """
    title, bar, raw_entity = link.rpartition("|")
    entity = raw_entity.strip()
    skipped["entity ids with surrounding spaces (removed)"] += entity != raw_entity
    if entity in (NO_LINK, ""):
        return Label(start, end, UNLINKED, types=types)
    return Label(start, end, entity, name=title if bar else None, types=types)
