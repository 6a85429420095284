"""A knowledge base as a folder of tab-separated tables.

    redirects.tsv     from, to
    same_as.tsv       one, other
    subclass_of.tsv   class, superclass
    entities.tsv      id, and whatever else is known about it

Every table may be left out, but not all of them; each may be compressed (`.tsv.gz`, `.tsv.zst`). Lines that begin
with `#` are comments, so that a header is written with `#`. Ids are kept as written.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError
from karat.kb.tables import Tables
from karat.model.check import Where
from karat.storage.files import Source

_TABLES = {
    "redirects": ("from", "to"),
    "same_as": ("one", "other"),
    "subclass_of": ("class", "superclass"),
    "entities": ("id",),
}
_OPEN_ENDED = "entities"  # the one table that may have further columns
_SUFFIXES = (".tsv", ".tsv.gz", ".tsv.zst")
_EXPECTED = f"any of {', '.join(f'{table}.tsv' for table in _TABLES)} (also .gz, .zst)"
_NEAR = 0.7  # `entity` is near `entities`, `names` is not near `same_as`


class _Table(NamedTuple):
    """What a file says, and the line of each row."""

    label: str
    rows: list[list[str]]
    lines: list[int]


def read_kb(path: str | os.PathLike[str]) -> Tables:
    """The knowledge base in a folder, under the folder's name."""
    folder = Path(path)
    read = {table: _read(Source(str(folder / file)), table) for table, file in _files(folder).items()}

    def pairs(table: str) -> list[tuple[str, str]]:
        return [(one, other) for one, other in read[table].rows] if table in read else []

    def where(table: str) -> Where:
        return lambda row: f"{read[table].label}:{read[table].lines[row]}"

    return Tables.of(
        name=folder.resolve().name,
        redirects=pairs("redirects"),
        same_as=pairs("same_as"),
        subclass_of=pairs("subclass_of"),
        entities=[id for (id,) in read["entities"].rows] if "entities" in read else None,
        where=where,
    )


def _files(folder: Path) -> dict[str, str]:
    """The name of the file of each table that there is."""
    names = _names(folder)
    files: dict[str, str] = {}
    for table in _TABLES:
        same = [table + suffix for suffix in _SUFFIXES if table + suffix in names]
        if len(same) > 1:
            raise InputError(
                str(folder), found=" and ".join(same), expected="one file for each table", remedy="Delete one of them"
            )
        if same:
            files[table] = same[0]
    near = _near(names, sorted(_TABLES.keys() - files.keys()))
    if files:  # other files may lie there, but a table with a misspelt name must not be missed in silence
        near = {name: table for name, table in near.items() if name.endswith(_SUFFIXES)}
    if near or not files:
        meant = " and ".join(f"{name} to {table}.tsv" for name, table in near.items())
        raise InputError(
            str(folder),
            found=" and ".join(near) or "none of the tables",
            expected=_EXPECTED,
            remedy=f"Rename or convert {meant}, or move elsewhere what is no table" if near else "Check the path",
        )
    return files


def _names(folder: Path) -> list[str]:
    """The names of all files in the folder."""
    try:
        return sorted(file.name for file in folder.iterdir())
    except NotADirectoryError:
        found, remedy = "a file", "Put the tables into a folder and name the folder"
    except FileNotFoundError:
        found, remedy = "nothing", "Check the path"
    except OSError as problem:
        found, remedy = f"a folder that cannot be read ({problem.strerror})", "Check its name and permissions"
    except ValueError:
        found, remedy = "a path with a NUL character", "Check the path"
    raise InputError(str(folder), found=found, expected=f"a folder with {_EXPECTED}", remedy=remedy)


def _near(names: list[str], tables: list[str]) -> dict[str, str]:
    """For each name that is like the name of a table, that table."""
    stems = {name: name.split(".")[0].lower() for name in names}
    near = {name: get_close_matches(stem, tables, n=1, cutoff=_NEAR) for name, stem in stems.items()}
    return {name: found[0] for name, found in near.items() if found}


def _read(source: Source, table: str) -> _Table:
    """The rows of a file, without what further columns say."""
    columns = _TABLES[table]
    rows: list[list[str]] = []
    lines: list[int] = []
    # Not `splitlines`: an id may hold one of the rarer line breaks of Unicode.
    for number, line in enumerate(_text(source).split("\n"), 1):
        line = line.removesuffix("\r")
        if line.startswith("#") or not line.strip(" "):
            continue
        cells = line.split("\t")
        if len(cells) != len(columns) and table != _OPEN_ENDED:
            raise InputError(
                f"{source.label}:{number}",
                found=f"{len(cells)} column{'s' * (len(cells) > 1)}",
                expected=f"{len(columns)} columns: {', '.join(columns)}",
                remedy="Put one tab between the ids, and none elsewhere; begin comments with #",
            )
        rows.append(cells[: len(columns)])
        lines.append(number)
    return _Table(source.label, rows, lines)


def _text(source: Source) -> str:
    data = source.data()
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        byte = problem.start - data.rfind(b"\n", 0, problem.start)
    raise InputError(
        f"{source.label}:{line}",
        found=f"bytes that are not UTF-8 (byte {byte} of the line)",
        expected="UTF-8",
        remedy="Convert the file",
    )
