"""What is known about entities and surfaces by name: names, types, most popular candidates, demonyms."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from karat.errors import InputError
from karat.storage.files import Source

_HEADERS = ("id", "surface")
_SUFFIXES = ("", ".gz", ".zst")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Facts by id and by surface. A surface that is not in `popular` is unknown, not without candidates."""

    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    types: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)
    popular: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    demonyms: frozenset[str] = field(default=frozenset(), repr=False)


def read_lexicon(path: str | os.PathLike[str]) -> Lexicon:
    """The lexicon in a folder: `entities.tsv` (id, name, types), `popular.tsv` (surface, ids), `demonyms.txt`.

    Types and ids are joined by `|`. Each file may be compressed, and may be missing.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(
            str(path), found="no folder", expected="a folder of tables", remedy="Give the folder that holds them"
        )
    names: dict[str, str] = {}
    types: dict[str, frozenset[str]] = {}
    for id, *more in _rows(folder, "entities.tsv"):
        names[id] = more[0] if more else ""
        types[id] = frozenset(filter(None, more[1].split("|"))) if len(more) > 1 else frozenset()
    popular = {row[0]: tuple(filter(None, row[1].split("|"))) for row in _rows(folder, "popular.tsv") if len(row) > 1}
    return Lexicon(names, types, popular, frozenset(row[0] for row in _rows(folder, "demonyms.txt")))


def _rows(folder: Path, name: str) -> list[list[str]]:
    """The rows of a table that is there, without its header, comments and blank lines."""
    found = next((folder / f"{name}{suffix}" for suffix in _SUFFIXES if (folder / f"{name}{suffix}").exists()), None)
    if found is None:
        return []
    lines = Source(str(found)).data().decode(errors="replace").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return rows[1:] if rows and rows[0][0] in _HEADERS else rows
