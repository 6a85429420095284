"""A folder of tab-separated tables, as `karat.kb.folder` describes them."""

from __future__ import annotations

from karat.kb.folder import read_kb, rows_of
from karat.kb.pack.shapes import VALUES
from karat.knowledge.importing.gathered import Gathered


def gathered_tsv(path: str, language: str, xrefs: bool) -> Gathered:
    """Every table, checked as it is when it is used directly."""
    read_kb(path)  # says what is wrong with it
    found = Gathered()
    tables = rows_of(path)
    for table in ("redirects", "same_as", "subclass_of", "aliases", "demonyms"):
        for row in tables.get(table, ()):
            found.add(table, *row)
    for id, name, types in dict.fromkeys(tables.get("entities", ())):
        each = [] if not types else types.split("|")
        value = next((type for type in each if type in VALUES), None)
        found.add("entities", id, name or None, None, None, value)
        if name:
            found.add("aliases", id, name)
        if types is not None:
            found.add("types", id, sorted({type for type in each if type not in VALUES}))
    for surface, ids in dict.fromkeys(tables.get("popular", ())):
        found.add("popular", surface, sorted(set((ids or "").split("|"))))
    return found
