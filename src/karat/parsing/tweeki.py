"""Links as both files of TWEEKI write them."""

from __future__ import annotations

from collections import Counter

from karat.model.document import UNLINKED, Label

NONE = "-"


def label(start: int, end: int, link: str, types: tuple[str, ...], skipped: Counter[str]) -> Label:
    """A mention whose link is `label|QID` of a Wikidata entity, or `-`: then it is a span without link.

    The label is that of Wikidata, no title of Wikipedia. Blanks around an id are removed.
    """
    name, bar, written = link.rpartition("|")
    entity = written.strip()
    skipped["entity ids with blanks around them (removed)"] += entity != written
    if entity in (NONE, ""):
        return Label(start, end, UNLINKED, types=types)
    return Label(start, end, entity, name=name if bar else None, types=types)
