"""Dumps of MediaWiki tables: `INSERT INTO … VALUES (…),(…);` with MySQL escapes.

A dump starts with CREATE TABLE, which names its columns. Columns are selected by name, so that one reader handles the
layouts of all years.

A block is a part of a dump that is parsed on its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.errors import InputError
from karat.model.tables.arrow import Arrow
from karat.storage.dumps import Dump, DumpBlock, DumpError

STATEMENT_END: Final = b"\n"
"""Mark at which a dump can be split into blocks: every INSERT statement is one line."""

_COLUMN = re.compile(rb"^\s+`(\w+)` (\w+)", re.MULTILINE)
_CREATE_TABLE = re.compile(rb"CREATE TABLE `(\w+)` \((.*?)^\)", re.DOTALL | re.MULTILINE)
_TEXT = rb"'[^'\\]*+(?:\\.[^'\\]*+)*+'"
_CELL = rb"(?:" + _TEXT + rb"|NULL|-?[0-9.]++(?:[eE][-+]?[0-9]+)?)"
_INTEGER_TYPES = (b"int", b"bigint", b"tinyint", b"smallint", b"mediumint")
_ESCAPES: Final = {b"0": b"\0", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a", b"b": b"\b"}
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class SqlTable:
    """A dumped MySQL table with the columns to read, and the methods that parse its blocks."""

    name: str
    """Name of the table."""
    label: str
    """File name in messages."""
    columns: Mapping[str, bool]
    """Selected columns, with whether each is a number."""
    _row_pattern: re.Pattern[bytes]
    _statement_pattern: re.Pattern[bytes]
    _numeric_positions: tuple[int, ...] | None
    """Positions of the selected columns, if all columns of the table are numbers."""
    _n_columns: int

    @classmethod
    def from_dump(cls, dump: Dump, name: str, selected: Sequence[str]) -> SqlTable:
        """Read the header of a dump of the table `name`, of which the columns `selected` are to be read.

        `selected` must be in the order of the table. Raise `InputError` if it is a dump of another table or lacks one
        of the columns.
        """
        head = dump.read_head(STATEMENT_END)
        statement = _CREATE_TABLE.search(head)
        if statement is None or statement[1].decode() != name:
            raise InputError(
                dump.label,
                actual=f"a dump of {statement[1].decode()!r}" if statement else "no MediaWiki table",
                expected=f"a dump of {name!r}, as in PROJECT-DATE-{name}.sql.gz",
                remedy="Check which file is which",
            )
        columns = {column.decode(): kind in _INTEGER_TYPES for column, kind in _COLUMN.findall(statement[2])}
        missing = [column for column in selected if column not in columns]
        if missing:
            raise InputError(
                dump.label,
                actual=f"the columns {', '.join(columns)}",
                expected=", ".join(selected),
                remedy="Use a dump of another year, or report this layout",
            )
        return cls(
            name,
            dump.label,
            {column: columns[column] for column in selected},
            re.compile(_build_row_pattern(columns, selected, capture=True), re.DOTALL),
            re.compile(_build_statement_pattern(columns), re.DOTALL),
            tuple(list(columns).index(column) for column in selected) if all(columns.values()) else None,
            len(columns),
        )

    @classmethod
    def read_column_names(cls, dump: Dump) -> frozenset[str]:
        """Return the names of all columns in the header of a dump; empty if the file is no dump of a table."""
        statement = _CREATE_TABLE.search(dump.read_head(STATEMENT_END))
        return frozenset(column.decode() for column, _ in _COLUMN.findall(statement[2])) if statement else frozenset()

    def parse_rows(self, block: DumpBlock) -> tuple[Arrow, Counter[str]]:
        """Return a table of the selected columns of all rows in a block, and the number of skipped rows by reason.

        Raise `InputError` on an invalid statement, and `DumpError` if the dump ends in the middle of a statement.
        """
        begin = b"INSERT INTO "
        lines = [line for line in block.data.split(b"\n") if line.startswith(begin)]
        counts: Counter[str] = Counter()
        tables = []
        for line in lines:
            values = line[line.index(b" VALUES ") + 8 :] if b" VALUES " in line else b""
            if self._statement_pattern.fullmatch(values.rstrip()) is None:
                raise self._statement_error(line, block)
            tables.append(
                self._parse_numbers(values)
                if self._numeric_positions is not None
                else self._parse_texts(values, counts)
            )
        schema = pa.schema([(column, pa.int64() if number else pa.string()) for column, number in self.columns.items()])
        return (pa.concat_tables(tables) if tables else schema.empty_table()), counts

    def _parse_numbers(self, values: bytes) -> Arrow:
        """Return the selected columns of the rows `(…),(…);` of a table of numbers only, which is fast."""
        assert self._numeric_positions is not None
        cells = np.fromstring(values.translate(_PUNCTUATION_TO_SPACE).decode("ascii"), np.int64, sep=" ").reshape(
            -1, self._n_columns
        )
        return pa.table(
            {column: cells[:, position] for column, position in zip(self.columns, self._numeric_positions, strict=True)}
        )

    def _parse_texts(self, values: bytes, counts: Counter[str]) -> Arrow:
        """Return the selected columns of the rows `(…),(…);` of a table; skip and count rows that are not UTF-8."""
        rows = self._row_pattern.findall(values)
        cells = list(zip(*rows, strict=True)) if len(self.columns) > 1 else [rows]
        columns: dict[str, Arrow] = {}
        is_invalid = np.zeros(len(rows), np.bool_)
        for (column, number), column_cells in zip(self.columns.items(), cells, strict=True):
            if number:
                columns[column] = pa.array(
                    [None if cell == b"NULL" else int(cell) for cell in column_cells], pa.int64()
                )
            else:
                columns[column], wrong = _decode_strings(column_cells)
                is_invalid |= wrong
        table = pa.table(columns)
        if is_invalid.any():
            counts[f"rows of {self.name} with text that is not UTF-8, skipped"] += int(is_invalid.sum())
            table = table.filter(pa.array(~is_invalid))
        return table

    def _statement_error(self, line: bytes, block: DumpBlock) -> InputError:
        """Return the error about a statement that is incomplete at the end of the dump, or invalid."""
        if block.is_last and not line.rstrip().endswith(b";"):
            return DumpError(
                self.label,
                actual="an end in the middle of a statement",
                expected="a complete dump",
                remedy="Download the file again and repeat the command: it resumes from there",
            )
        start = line.find(b"(")
        while start >= 0 and (row := self._row_pattern.match(line, start)) is not None:
            start = row.end() + 1
        return InputError(
            f"{self.label}, before byte {block.point.n_done:,}",
            actual=f"a row that does not fit: {line[max(start, 0) :][:60].decode('utf-8', 'replace')!r}",
            expected=f"INSERT INTO `{self.name}` VALUES (…),(…); with {self._n_columns} values in each row",
            remedy="Download the file again",
        )


_PUNCTUATION_TO_SPACE = bytes(ord(" ") if chr(code) in "();," else code for code in range(256))


def _build_row_pattern(columns: Mapping[str, bool], selected: Sequence[str], *, capture: bool) -> bytes:
    """Return the regular expression of a row, with a group for each selected column if `capture`."""
    cells = [rb"(" + _CELL + rb")" if capture and column in selected else _CELL for column in columns]
    if capture and list(selected) != [column for column in columns if column in selected]:
        raise ValueError("columns must be selected in the order of the table")
    return rb"\(" + rb",".join(cells) + rb"\)"


def _build_statement_pattern(columns: Mapping[str, bool]) -> bytes:
    """Return the regular expression of all rows of a statement, up to its semicolon."""
    row = _build_row_pattern(columns, (), capture=False)
    return rb"(?:" + row + rb",)*+" + row + rb";"


def _decode_strings(cells: Sequence[bytes]) -> tuple[Arrow, np.ndarray]:
    """Return quoted SQL texts as an Arrow array, null for NULL, and a mask of the texts that are not UTF-8."""
    unquoted = [
        None if cell == b"NULL" else cell[1:-1] if b"\\" not in cell else _unescape(cell[1:-1]) for cell in cells
    ]
    array = pa.array(unquoted, pa.binary())
    is_invalid = np.zeros(len(unquoted), np.bool_)
    try:
        return array.cast(pa.string()), is_invalid
    except pa.ArrowInvalid:
        for row, cell in enumerate(unquoted):
            try:
                (cell or b"").decode()
            except UnicodeDecodeError:
                is_invalid[row] = True
        return pc.if_else(pa.array(is_invalid), pa.scalar(b"", pa.binary()), array).cast(pa.string()), is_invalid


def _unescape(text: bytes) -> bytes:
    """Return a text with its MySQL escapes replaced."""
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)
