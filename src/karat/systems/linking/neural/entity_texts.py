"""Names and descriptions of entities, as models read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from karat.systems.linking.lexicon import open_snapshots

_WIKIDATA_ID: Final = re.compile(r"[QP]\d+")


def get_default_name(entity: str) -> str:
    """Return the id as a name: the last part of a URL, with spaces for underscores."""
    return entity.rpartition("/")[2].replace("_", " ") if "://" in entity else entity.replace("_", " ")


def find_names(entities: Sequence[str], kb: str) -> list[str]:
    """Return the name of each entity: its title, or for Wikidata ids its name in the snapshots `kb`, if any."""
    names = [get_default_name(entity) for entity in entities]
    rows = [row for row, name in enumerate(names) if _WIKIDATA_ID.fullmatch(name)]
    for snapshot in reversed(open_snapshots(kb)) if kb and rows else ():
        for row, name in zip(rows, snapshot.names([entities[row] for row in rows]), strict=True):
            names[row] = name or names[row]
    return names


def find_descriptions(entities: Sequence[str], kb: str) -> list[str]:
    """Return the description of each entity in the snapshots `kb`, joined by `+`; empty if unknown.

    The first snapshot has precedence.
    """
    descriptions = [""] * len(entities)
    for snapshot in reversed(open_snapshots(kb)) if kb else ():
        for row, description in enumerate(snapshot.descriptions(entities)):
            descriptions[row] = description or descriptions[row]
    return descriptions


def find_aliases(entities: Sequence[str], kb: str) -> list[list[str]]:
    """Return the sorted aliases of each entity in the snapshots `kb`."""
    aliases: list[set[str]] = [set() for _ in entities]
    for snapshot in open_snapshots(kb) if kb else ():
        for names, more in zip(aliases, snapshot.aliases(entities), strict=True):
            names.update(more or ())
    return [sorted(names) for names in aliases]


def join_descriptions(names: Sequence[str], descriptions: Sequence[str]) -> list[str]:
    """Return names with their descriptions, as an encoder reads them; without any description, the names."""
    if not any(descriptions):
        return list(names)
    return [
        f"{name}: {description}" if description else name for name, description in zip(names, descriptions, strict=True)
    ]
