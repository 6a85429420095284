"""Import of entities as JSON lines, one entity per line.

{"id": "X1", "name": "Anna", "aliases": ["A."], "types": ["PER"], "parents": [], "same_as": ["Q1"], "old_ids": ["X0"]}
"""

from __future__ import annotations

import msgspec

from karat.kb.importers.table_rows import TableRows
from karat.model.errors import InputError
from karat.storage.files import Source


class _EntityRecord(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the file: an entity with its names, types, superclasses (`parents`) and other ids."""

    id: str
    name: str | None = None
    description: str | None = None
    kind: str | None = None
    value: str | None = None
    in_links: int | None = None
    population: int | None = None
    aliases: list[str] | dict[str, int] = []
    types: list[str] | None = None
    parents: list[str] = []
    same_as: list[str] = []
    old_ids: list[str] = []
    demonyms: list[str] = []
    links: list[str] = []


def read_jsonl(path: str, language: str, xrefs_are_same_as: bool) -> TableRows:
    """Read the rows of all entities in a JSONL file; `language` and `xrefs_are_same_as` have no effect."""
    tables, source = TableRows(), Source(path)
    with source.open_stream() as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                _add_entity(tables, _parse_line(line, f"{source.label}:{number}"))
    return tables


def _parse_line(line: bytes, where: str) -> _EntityRecord:
    """Decode an entity; raise `InputError`, located at `where`, if the line is invalid."""
    try:
        return msgspec.json.decode(line, type=_EntityRecord)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(
            where,
            actual=str(problem),
            expected="an entity as JSON",
            remedy="Correct the line; docs/knowledge.md lists the fields",
        ) from None


def _add_entity(tables: TableRows, entity: _EntityRecord) -> None:
    """Add the rows of an entity to the tables; its name also becomes an alias."""
    tables.add(
        "entities",
        entity.id,
        entity.name,
        entity.kind,
        entity.description,
        entity.value,
        entity.in_links,
        entity.population,
    )
    alias_counts = entity.aliases if isinstance(entity.aliases, dict) else dict.fromkeys(entity.aliases)
    names = {entity.name: None, **alias_counts} if entity.name else alias_counts
    for alias, count in names.items():
        tables.add("aliases", entity.id, alias, count)
    if entity.types is not None:
        tables.add("types", entity.id, sorted(set(entity.types)))
    for table, others in (("subclass_of", entity.parents), ("same_as", entity.same_as)):
        for other in dict.fromkeys(others):
            tables.add(table, entity.id, other)
    for old_id in dict.fromkeys(entity.old_ids):
        tables.add("redirects", old_id, entity.id)
    for demonym in dict.fromkeys(entity.demonyms):
        tables.add("demonyms", demonym, entity.id)
    for target in dict.fromkeys(entity.links):
        tables.add("links", target, entity.id)
