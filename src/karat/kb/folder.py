"""A knowledge base as a folder of tab-separated tables.

    redirects.tsv     from, to
    same_as.tsv       one, other
    subclass_of.tsv   class, superclass
    entities.tsv      id, name, types joined by `|` (the last two may be left out)
    aliases.tsv       id, alias; a row for each alias
    popular.tsv       surface, ids of the entities it most often stands for, joined by `|`
    demonyms.txt      surface

Every table may be left out, but not all of them; each may be compressed (`.tsv.gz`, `.tsv.zst`). Ids, names and
surfaces are kept as written. A first row `id …` of entities, `id, alias` of aliases and `surface, ids` of popular is a
header.

Lines that begin with `#` are comments. Not so in popular and demonyms, where a surface may begin with anything: there a
comment begins with `# ` and has no tab.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError
from karat.kb.tables import Tables
from karat.model.tables.check import Where
from karat.storage.files import Source, readable


class _Shape(NamedTuple):
    """The file of a table, its columns, of which the last `spare` may be left out, and how it is written.

    In a `verbatim` table only an empty line is no row, and a comment is told from a surface that looks like one.
    """

    file: str
    columns: tuple[str, ...]
    spare: int = 0
    header: tuple[str, ...] | None = None
    verbatim: bool = False

    def is_row(self, line: str) -> bool:
        """Whether a line is no comment, and not blank."""
        if self.verbatim:
            return bool(line) and ("\t" in line or not line.startswith("# "))
        return bool(line.strip(" ")) and not line.startswith("#")


_TABLES = {
    "redirects": _Shape("redirects.tsv", ("from", "to")),
    "same_as": _Shape("same_as.tsv", ("one", "other")),
    "subclass_of": _Shape("subclass_of.tsv", ("class", "superclass")),
    "entities": _Shape("entities.tsv", ("id", "name", "types"), spare=2, header=("id",)),
    "aliases": _Shape("aliases.tsv", ("id", "alias"), header=("id", "alias")),
    "popular": _Shape("popular.tsv", ("surface", "ids"), header=("surface", "ids"), verbatim=True),
    "demonyms": _Shape("demonyms.txt", ("surface",), verbatim=True),
}
_PACKED = ("", ".gz", ".zst")
_TSV = tuple(f".tsv{packed}" for packed in _PACKED)
_TXT = tuple(f".txt{packed}" for packed in _PACKED)
_EXPECTED = f"any of {', '.join(shape.file for shape in _TABLES.values())} (also .gz, .zst)"
_NEAR = 0.7  # `entity` is near `entities`, `names` is not near `same_as`


class _Table(NamedTuple):
    """What a file says column by column, None for a cell that is left out, and the line of each row."""

    label: str
    columns: list[list[str | None]]
    lines: list[int]

    def place(self, row: int) -> str:
        """Where a row stands."""
        return f"{self.label}:{self.lines[row]}"

    def column(self, number: int) -> list[str]:
        """The cells of a column that are not left out."""
        return [cell for cell in self.columns[number] if cell is not None]

    def pairs(self, number: int = 1) -> Iterator[tuple[str, str]]:
        """The cells of the first column and of another one, where there are both."""
        for one, other in zip(self.columns[0], self.columns[number], strict=True):
            if one is not None and other is not None:
                yield one, other

    def with_column(self, number: int) -> _Table:
        """The rows in which this column is not left out."""
        return self.only([row for row, cell in enumerate(self.columns[number]) if cell is not None])

    def only(self, rows: list[int]) -> _Table:
        """Some of the rows."""
        if len(rows) == len(self.lines):
            return self
        columns = [[column[row] for row in rows] for column in self.columns]
        return _Table(self.label, columns, [self.lines[row] for row in rows])


def read_kb(path: str | os.PathLike[str]) -> Tables:
    """The knowledge base in a folder, under the folder's name."""
    folder = Path(path)
    read = {table: _Table("", [[] for _ in shape.columns], []) for table, shape in _TABLES.items()}
    files = _files(folder)
    for table, file in files.items():
        read[table] = _read(Source(str(folder / file)), table)
    for table in ("entities", "popular"):
        read[table] = _once(read[table], _TABLES[table].columns[0])

    def where(table: str) -> Where:
        if table in _TABLES:
            return read[table].place
        return read["entities"].with_column(1 if table == "names" else 2).place

    return Tables.of(
        name=readable(folder.resolve().name),
        redirects=read["redirects"].pairs(),
        same_as=read["same_as"].pairs(),
        subclass_of=read["subclass_of"].pairs(),
        entities=read["entities"].column(0) if "entities" in files else None,
        names=dict(read["entities"].pairs(1)),
        aliases=read["aliases"].pairs(),
        types=_joined(read["entities"].pairs(2)),
        popular=_joined(read["popular"].pairs()),
        demonyms=read["demonyms"].column(0) if "demonyms" in files else None,
        where=where,
    )


def rows_of(path: str | os.PathLike[str]) -> dict[str, list[tuple[str | None, ...]]]:
    """The rows of each table in a folder, as they are written; a cell that is left out is None."""
    folder = Path(path)
    read = {table: _read(Source(str(folder / file)), table) for table, file in _files(folder).items()}
    return {table: list(zip(*found.columns, strict=True)) for table, found in read.items()}


def _joined(rows: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """What is joined by `|` in each cell; in an empty one there is nothing."""
    parts = {"": frozenset[str]()}  # many cells say the same
    joined: dict[str, frozenset[str]] = {}
    for key, cell in rows:
        if cell not in parts:
            parts[cell] = frozenset(cell.split("|"))
        joined[key] = parts[cell]
    return joined


def _once(table: _Table, key: str) -> _Table:
    """The table without rows that say again what an earlier one says; none may say something else."""
    keys = table.columns[0]
    if len(set(keys)) == len(keys):
        return table
    first: dict[str | None, int] = {}
    for row, name in enumerate(keys):
        before = first.setdefault(name, row)
        if any(column[row] != column[before] for column in table.columns):
            raise InputError(
                table.place(row),
                found=f"{name!r} again, with other facts than at {table.place(before)}",
                expected=f"one row for each {key}",
                remedy="Make one row of the two",
            )
    return table.only(list(first.values()))


def _files(folder: Path) -> dict[str, str]:
    """The name of the file of each table that there is."""
    names = _names(folder)
    files: dict[str, str] = {}
    for table, shape in _TABLES.items():
        same = [shape.file + packed for packed in _PACKED if shape.file + packed in names]
        if len(same) > 1:
            raise InputError(
                readable(str(folder)),
                found=" and ".join(same),
                expected="one file for each table",
                remedy="Delete one of them",
            )
        if same:
            files[table] = same[0]
    near = _near(names, sorted(_TABLES.keys() - files.keys()))
    if files:  # other files may lie there, but a table with a misspelt name must not be missed in silence
        near = {name: table for name, table in near.items() if _is_table(name, table)}
    if near or not files:
        meant = " and ".join(f"{name} to {_TABLES[table].file}" for name, table in near.items())
        raise InputError(
            readable(str(folder)),
            found=" and ".join(near) or "none of the tables",
            expected=_EXPECTED,
            remedy=f"Rename or convert {meant}, or move elsewhere what is no table" if near else "Check the path",
        )
    return files


def _is_table(name: str, table: str) -> bool:
    """Whether a file with a name like that of the table is one rather than, say, notes about it."""
    return name.endswith(_TSV) or (name.endswith(_TXT) and (table == "demonyms" or name.split(".")[0] == table))


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
    raise InputError(readable(str(folder)), found=found, expected=f"a folder with {_EXPECTED}", remedy=remedy)


def _near(names: list[str], tables: list[str]) -> dict[str, str]:
    """For each name that is like the name of a table, that table."""
    stems = {name: name.split(".")[0].lower() for name in names}
    near = {name: get_close_matches(stem, tables, n=1, cutoff=_NEAR) for name, stem in stems.items()}
    return {name: found[0] for name, found in near.items() if found}


def _read(source: Source, table: str) -> _Table:
    """The rows of a file, without header."""
    shape = _TABLES[table]
    # Not `splitlines`: an id may hold one of the rarer line breaks of Unicode.
    lines = [line.removesuffix("\r") for line in _text(source).split("\n")]
    numbers = [number for number, line in enumerate(lines, 1) if shape.is_row(line)]
    rows = [lines[number - 1] for number in numbers]
    if rows and shape.header is not None and tuple(rows[0].split("\t")[: len(shape.header)]) == shape.header:
        del rows[0], numbers[0]
    most = len(shape.columns)
    short = [most - 1 - row.count("\t") for row in rows]
    for row, missing in enumerate(short):
        if not 0 <= missing <= shape.spare:
            raise _wrong_columns(f"{source.label}:{numbers[row]}", most - missing, shape)
    # One split for the whole table is several times faster than one for each row.
    cells = "\t".join([row + "\t" * missing for row, missing in zip(rows, short, strict=True)]).split("\t")
    columns: list[list[str | None]] = [list(cells[number::most]) if rows else [] for number in range(most)]
    for row, missing in enumerate(short):
        for column in columns[most - missing :]:
            column[row] = None
    return _Table(source.label, columns, numbers)


def _wrong_columns(where: str, count: int, shape: _Shape) -> InputError:
    """The error about a row with too many cells, or too few."""
    most = len(shape.columns)
    number = f"{most - shape.spare} to {most}" if shape.spare else f"{most}"
    comments = "`# `, without tabs" if shape.verbatim else "#"
    return InputError(
        where,
        found=f"{count} column{'s' * (count > 1)}",
        expected=f"{number} column{'s' * (most > 1)}: {', '.join(shape.columns)}",
        remedy=f"Put one tab between the columns, and none elsewhere; begin comments with {comments}",
    )


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
