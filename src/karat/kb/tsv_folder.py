"""A knowledge base as a folder of tab-separated tables.

    redirects.tsv     from, to
    same_as.tsv       id, equivalent id
    subclass_of.tsv   class, superclass
    entities.tsv      id, name, types separated by `|` (name and types are optional)
    aliases.tsv       id, alias; one row per alias
    popular.tsv       surface, ids of its most frequent entities separated by `|`
    demonyms.txt      surface

Every table is optional, but at least one must exist. A table may be compressed (`.tsv.gz`, `.tsv.zst`). Ids, names and
surfaces stay as written. A first row `id …` in entities, `id, alias` in aliases and `surface, ids` in popular is a
header.

Lines that start with `#` are comments. In popular and demonyms, where a surface may start with any character, a comment
starts with `# ` and has no tab.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from karat.kb.in_memory_kb import InMemoryKB
from karat.model.errors import InputError
from karat.model.tables.checks import RowLocator
from karat.storage.files import Source, printable_path


class _TableFormat(NamedTuple):
    """The file format of a table."""

    file: str
    """File name without compression suffix."""
    columns: tuple[str, ...]
    """Column names."""
    n_optional: int = 0
    """Number of columns at the end that a row may omit."""
    header: tuple[str, ...] | None = None
    """First cells of a header row; None if the table has no header."""
    has_verbatim_surfaces: bool = False
    """Whether surfaces may start with any character, so that only `# ` without tab marks a comment."""

    def is_row(self, line: str) -> bool:
        """Return whether a line is a row: neither blank nor a comment."""
        if self.has_verbatim_surfaces:
            return bool(line) and ("\t" in line or not line.startswith("# "))
        return bool(line.strip(" ")) and not line.startswith("#")


_TABLES = {
    "redirects": _TableFormat("redirects.tsv", ("from", "to")),
    "same_as": _TableFormat("same_as.tsv", ("one", "other")),
    "subclass_of": _TableFormat("subclass_of.tsv", ("class", "superclass")),
    "entities": _TableFormat("entities.tsv", ("id", "name", "types"), n_optional=2, header=("id",)),
    "aliases": _TableFormat("aliases.tsv", ("id", "alias"), header=("id", "alias")),
    "popular": _TableFormat("popular.tsv", ("surface", "ids"), header=("surface", "ids"), has_verbatim_surfaces=True),
    "demonyms": _TableFormat("demonyms.txt", ("surface",), has_verbatim_surfaces=True),
}
_COMPRESSION_SUFFIXES = ("", ".gz", ".zst")
_TSV_SUFFIXES = tuple(f".tsv{suffix}" for suffix in _COMPRESSION_SUFFIXES)
_TXT_SUFFIXES = tuple(f".txt{suffix}" for suffix in _COMPRESSION_SUFFIXES)
_EXPECTED = f"any of {', '.join(format.file for format in _TABLES.values())} (also .gz, .zst)"
_MIN_SIMILARITY = 0.7  # `entity` resembles `entities`, `names` does not resemble `same_as`


class _TableContent(NamedTuple):
    """The rows of a file, by column."""

    label: str
    """File name in messages."""
    columns: list[list[str | None]]
    """Cells of each column; None for an omitted cell."""
    lines: list[int]
    """Line number of each row."""

    def format_location(self, row: int) -> str:
        """Return the file and line of a row, `FILE:LINE`, for error messages."""
        return f"{self.label}:{self.lines[row]}"

    def get_cells(self, column_index: int) -> list[str]:
        """Return the cells of a column, without omitted cells."""
        return [cell for cell in self.columns[column_index] if cell is not None]

    def iterate_pairs(self, column_index: int = 1) -> Iterator[tuple[str, str]]:
        """Yield the cells of the first column and of column `column_index`, for rows that have both."""
        for first_cell, other_cell in zip(self.columns[0], self.columns[column_index], strict=True):
            if first_cell is not None and other_cell is not None:
                yield first_cell, other_cell

    def select_rows_with(self, column_index: int) -> _TableContent:
        """Return the table of the rows in which column `column_index` is not omitted."""
        return self.select_rows([row for row, cell in enumerate(self.columns[column_index]) if cell is not None])

    def select_rows(self, rows: list[int]) -> _TableContent:
        """Return the table of the rows with the given indexes."""
        if len(rows) == len(self.lines):
            return self
        columns = [[column[row] for row in rows] for column in self.columns]
        return _TableContent(self.label, columns, [self.lines[row] for row in rows])


def load_tsv_folder(path: str | os.PathLike[str]) -> InMemoryKB:
    """Load the knowledge base in a folder of tables; its name is the folder's name.

    Raise `InputError` on the first defect, or if the folder holds no table.
    """
    folder = Path(path)
    tables = {table: _TableContent("", [[] for _ in format.columns], []) for table, format in _TABLES.items()}
    files = _find_table_files(folder)
    for table, file in files.items():
        tables[table] = _read_table(Source(str(folder / file)), table)
    for table in ("entities", "popular"):
        tables[table] = _drop_repeated_rows(tables[table], _TABLES[table].columns[0])

    def where(table: str) -> RowLocator:
        if table in _TABLES:
            return tables[table].format_location
        return tables["entities"].select_rows_with(1 if table == "names" else 2).format_location

    return InMemoryKB.from_tables(
        name=printable_path(folder.resolve().name),
        redirects=tables["redirects"].iterate_pairs(),
        same_as=tables["same_as"].iterate_pairs(),
        subclass_of=tables["subclass_of"].iterate_pairs(),
        entities=tables["entities"].get_cells(0) if "entities" in files else None,
        names=dict(tables["entities"].iterate_pairs(1)),
        aliases=tables["aliases"].iterate_pairs(),
        types=_split_cells(tables["entities"].iterate_pairs(2)),
        popular=_split_cells(tables["popular"].iterate_pairs()),
        demonyms=tables["demonyms"].get_cells(0) if "demonyms" in files else None,
        where=where,
    )


def read_tsv_rows(path: str | os.PathLike[str]) -> dict[str, list[tuple[str | None, ...]]]:
    """Return the rows of each table in a folder by table name, without header and comments; an omitted cell is None."""
    folder = Path(path)
    tables = {
        table: _read_table(Source(str(folder / file)), table) for table, file in _find_table_files(folder).items()
    }
    return {table: list(zip(*content.columns, strict=True)) for table, content in tables.items()}


def _split_cells(rows: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Return the values of each key from pairs (key, cell), where `|` separates the values of a cell.

    An empty cell gives an empty set. The last pair counts if a key is repeated.
    """
    parts = {"": frozenset[str]()}  # many cells are equal, so their sets are shared
    sets: dict[str, frozenset[str]] = {}
    for key, cell in rows:
        if cell not in parts:
            parts[cell] = frozenset(cell.split("|"))
        sets[key] = parts[cell]
    return sets


def _drop_repeated_rows(table: _TableContent, key: str) -> _TableContent:
    """Return the table without repeated rows; raise `InputError` if rows with the same first cell differ.

    `key`: name of the first column, for the message.
    """
    keys = table.columns[0]
    if len(set(keys)) == len(keys):
        return table
    first: dict[str | None, int] = {}
    for row, name in enumerate(keys):
        before = first.setdefault(name, row)
        if any(column[row] != column[before] for column in table.columns):
            raise InputError(
                table.format_location(row),
                actual=f"a second row for {name!r} that differs from {table.format_location(before)}",
                expected=f"one row per {key}",
                remedy="Merge the two rows",
            )
    return table.select_rows(list(first.values()))


def _find_table_files(folder: Path) -> dict[str, str]:
    """Return the file name of each table that the folder holds, by table name.

    Raise `InputError` if a table has two files, a file name looks misspelt, or there is no table.
    """
    names = _list_file_names(folder)
    files: dict[str, str] = {}
    for table, format in _TABLES.items():
        candidates = [format.file + suffix for suffix in _COMPRESSION_SUFFIXES if format.file + suffix in names]
        if len(candidates) > 1:
            raise InputError(
                printable_path(str(folder)),
                actual=" and ".join(candidates),
                expected="one file per table",
                remedy="Delete one of them",
            )
        if candidates:
            files[table] = candidates[0]
    misspelt = _find_misspelt_names(names, sorted(_TABLES.keys() - files.keys()))
    if files:  # other files are allowed, but a misspelt table must not be ignored silently
        misspelt = {name: table for name, table in misspelt.items() if _looks_like_table(name, table)}
    if misspelt or not files:
        renames = " and ".join(f"{name} to {_TABLES[table].file}" for name, table in misspelt.items())
        raise InputError(
            printable_path(str(folder)),
            actual=" and ".join(misspelt) or "none of the tables",
            expected=_EXPECTED,
            remedy=f"Rename or convert {renames}, or move files that are no tables to another folder"
            if misspelt
            else "Check the path",
        )
    return files


def _looks_like_table(name: str, table: str) -> bool:
    """Return whether a file whose name resembles `table` is a table, by its suffix, rather than, say, notes."""
    return name.endswith(_TSV_SUFFIXES) or (
        name.endswith(_TXT_SUFFIXES) and (table == "demonyms" or name.split(".")[0] == table)
    )


def _list_file_names(folder: Path) -> list[str]:
    """Return the names of all files and folders in the folder, sorted; raise `InputError` if it cannot be read."""
    try:
        return sorted(file.name for file in folder.iterdir())
    except NotADirectoryError:
        finding, remedy = "a file", "Put the tables into a folder and name the folder"
    except FileNotFoundError:
        finding, remedy = "no such folder", "Check the path"
    except OSError as problem:
        finding, remedy = f"a folder that cannot be read ({problem.strerror})", "Check its name and permissions"
    except ValueError:
        finding, remedy = "a path with a NUL character", "Check the path"
    raise InputError(printable_path(str(folder)), actual=finding, expected=f"a folder with {_EXPECTED}", remedy=remedy)


def _find_misspelt_names(names: list[str], tables: list[str]) -> dict[str, str]:
    """Return, by file name, the table in `tables` that the file name resembles; other file names are omitted."""
    stems = {name: name.split(".")[0].lower() for name in names}
    similar = {name: get_close_matches(stem, tables, n=1, cutoff=_MIN_SIMILARITY) for name, stem in stems.items()}
    return {name: matches[0] for name, matches in similar.items() if matches}


def _read_table(source: Source, table: str) -> _TableContent:
    """Read a file with the columns of the table called `table`, without header and comments.

    Raise `InputError` if a row has too many or too few cells.
    """
    format = _TABLES[table]
    # Not `splitlines`: an id may contain a rare Unicode line break.
    lines = [line.removesuffix("\r") for line in _decode_text(source).split("\n")]
    numbers = [number for number, line in enumerate(lines, 1) if format.is_row(line)]
    rows = [lines[number - 1] for number in numbers]
    if rows and format.header is not None and tuple(rows[0].split("\t")[: len(format.header)]) == format.header:
        del rows[0], numbers[0]
    n_columns = len(format.columns)
    n_missing = [n_columns - 1 - row.count("\t") for row in rows]
    for row, missing in enumerate(n_missing):
        if not 0 <= missing <= format.n_optional:
            raise _column_count_error(f"{source.label}:{numbers[row]}", n_columns - missing, format)
    # One split for the whole table is several times faster than one for each row.
    cells = "\t".join([row + "\t" * missing for row, missing in zip(rows, n_missing, strict=True)]).split("\t")
    columns: list[list[str | None]] = [list(cells[number::n_columns]) if rows else [] for number in range(n_columns)]
    for row, missing in enumerate(n_missing):
        for column in columns[n_columns - missing :]:
            column[row] = None
    return _TableContent(source.label, columns, numbers)


def _column_count_error(where: str, count: int, format: _TableFormat) -> InputError:
    """Return the error about a row with `count` cells, which are too many or too few."""
    n_columns = len(format.columns)
    expected_count = f"{n_columns - format.n_optional} to {n_columns}" if format.n_optional else f"{n_columns}"
    comments = "`# `, without tabs" if format.has_verbatim_surfaces else "#"
    return InputError(
        where,
        actual=f"{count} column{'s' * (count > 1)}",
        expected=f"{expected_count} column{'s' * (n_columns > 1)}: {', '.join(format.columns)}",
        remedy=f"Put one tab between columns and no other tabs; start comments with {comments}",
    )


def _decode_text(source: Source) -> str:
    """Return the text of a file without byte order mark; raise `InputError` with the line if it is not UTF-8."""
    data = source.read_bytes()
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        byte = problem.start - data.rfind(b"\n", 0, problem.start)
    raise InputError(
        f"{source.label}:{line}",
        actual=f"bytes that are not UTF-8 (byte {byte} of the line)",
        expected="UTF-8",
        remedy="Convert the file",
    )
