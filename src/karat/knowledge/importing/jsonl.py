"""Entities as JSON, one on each line.

{"id": "X1", "name": "Anna", "aliases": ["A."], "types": ["PER"], "parents": [], "same_as": ["Q1"], "old_ids": ["X0"]}
"""

from __future__ import annotations

import msgspec

from karat.errors import InputError
from karat.knowledge.importing.gathered import Gathered
from karat.storage.files import Source


class _Line(msgspec.Struct, forbid_unknown_fields=True):
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


def gathered_jsonl(path: str, language: str, xrefs: bool) -> Gathered:
    """Every line."""
    found, source = Gathered(), Source(path)
    with source.stream() as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                _add(found, _read(line, f"{source.label}:{number}"))
    return found


def _read(line: bytes, where: str) -> _Line:
    try:
        return msgspec.json.decode(line, type=_Line)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(
            where, found=str(problem), expected="an entity as JSON", remedy="docs/knowledge.md lists the fields"
        ) from None


def _add(found: Gathered, one: _Line) -> None:
    found.add("entities", one.id, one.name, one.kind, one.description, one.value, one.in_links, one.population)
    counted = one.aliases if isinstance(one.aliases, dict) else dict.fromkeys(one.aliases)
    names = {one.name: None, **counted} if one.name else counted
    for alias, count in names.items():
        found.add("aliases", one.id, alias, count)
    if one.types is not None:
        found.add("types", one.id, sorted(set(one.types)))
    for table, others in (("subclass_of", one.parents), ("same_as", one.same_as)):
        for other in dict.fromkeys(others):
            found.add(table, one.id, other)
    for old in dict.fromkeys(one.old_ids):
        found.add("redirects", old, one.id)
    for demonym in dict.fromkeys(one.demonyms):
        found.add("demonyms", demonym, one.id)
    for target in dict.fromkeys(one.links):
        found.add("links", target, one.id)
