"""Tables of MediaWiki as they are published: `INSERT INTO … VALUES (…),(…);` with the escapes of MySQL.

A dump names its columns first, in CREATE TABLE. They are asked for by name, so that one reader takes the layouts of
all years.
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

from karat.errors import InputError
from karat.model.tables.arrow import Arrow
from karat.storage.dumps import Dump, DumpBlock, DumpError

ENDING: Final = b"\n"
"""Every statement with rows is a line of its own."""

_COLUMN = re.compile(rb"^\s+`(\w+)` (\w+)", re.MULTILINE)
_CREATED = re.compile(rb"CREATE TABLE `(\w+)` \((.*?)^\)", re.DOTALL | re.MULTILINE)
_TEXT = rb"'[^'\\]*+(?:\\.[^'\\]*+)*+'"
_CELL = rb"(?:" + _TEXT + rb"|NULL|-?[0-9.]++(?:[eE][-+]?[0-9]+)?)"
_NUMBERS = (b"int", b"bigint", b"tinyint", b"smallint", b"mediumint")
_ESCAPES: Final = {b"0": b"\0", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a", b"b": b"\b"}
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class SqlTable:
    """A dumped table: which of its columns are wanted, and whether each is a number."""

    name: str
    label: str
    wanted: Mapping[str, bool]
    _rows: re.Pattern[bytes]
    _statement: re.Pattern[bytes]
    _numeric: tuple[int, ...] | None
    """Where the wanted columns stand, if all columns of the table are numbers."""
    _width: int

    @classmethod
    def of(cls, dump: Dump, name: str, wanted: Sequence[str]) -> SqlTable:
        """The table in a dump, if it is the one that is asked for and has the columns."""
        head = dump.head(ENDING)
        created = _CREATED.search(head)
        if created is None or created[1].decode() != name:
            raise InputError(
                dump.label,
                found=f"a dump of {created[1].decode()!r}" if created else "no table of MediaWiki",
                expected=f"a dump of {name!r}, as in PROJECT-DATE-{name}.sql.gz",
                remedy="Check which file is which",
            )
        columns = {column.decode(): kind in _NUMBERS for column, kind in _COLUMN.findall(created[2])}
        missing = [column for column in wanted if column not in columns]
        if missing:
            raise InputError(
                dump.label,
                found=f"the columns {', '.join(columns)}",
                expected=", ".join(wanted),
                remedy="Take a dump of another year, or tell us of this layout",
            )
        return cls(
            name,
            dump.label,
            {column: columns[column] for column in wanted},
            re.compile(_row(columns, wanted, capture=True), re.DOTALL),
            re.compile(_statement(name, columns), re.DOTALL),
            tuple(list(columns).index(column) for column in wanted) if all(columns.values()) else None,
            len(columns),
        )

    @classmethod
    def columns_of(cls, dump: Dump) -> frozenset[str]:
        """The columns that a dump says it has."""
        created = _CREATED.search(dump.head(ENDING))
        return frozenset(column.decode() for column, _ in _COLUMN.findall(created[2])) if created else frozenset()

    def rows(self, block: DumpBlock) -> tuple[Arrow, Counter[str]]:
        """The wanted columns of all rows in a block, and how many rows were left out for each reason."""
        begin = b"INSERT INTO "
        lines = [line for line in block.data.split(b"\n") if line.startswith(begin)]
        counts: Counter[str] = Counter()
        tables = []
        for line in lines:
            values = line[line.index(b" VALUES ") + 8 :] if b" VALUES " in line else b""
            if self._statement.fullmatch(values.rstrip()) is None:
                raise self._broken(line, block)
            tables.append(self._numbers(values) if self._numeric is not None else self._texts(values, counts))
        schema = pa.schema([(column, pa.int64() if number else pa.string()) for column, number in self.wanted.items()])
        return (pa.concat_tables(tables) if tables else schema.empty_table()), counts

    def _numbers(self, values: bytes) -> Arrow:
        assert self._numeric is not None
        cells = np.fromstring(values.translate(_BLANKS).decode("ascii"), np.int64, sep=" ").reshape(-1, self._width)
        return pa.table({column: cells[:, at] for column, at in zip(self.wanted, self._numeric, strict=True)})

    def _texts(self, values: bytes, counts: Counter[str]) -> Arrow:
        found = self._rows.findall(values)
        cells = list(zip(*found, strict=True)) if len(self.wanted) > 1 else [found]
        columns: dict[str, Arrow] = {}
        bad = np.zeros(len(found), np.bool_)
        for (column, number), each in zip(self.wanted.items(), cells, strict=True):
            if number:
                columns[column] = pa.array([None if cell == b"NULL" else int(cell) for cell in each], pa.int64())
            else:
                columns[column], wrong = _strings(each)
                bad |= wrong
        table = pa.table(columns)
        if bad.any():
            counts[f"rows of {self.name} with text that is not UTF-8, left out"] += int(bad.sum())
            table = table.filter(pa.array(~bad))
        return table

    def _broken(self, line: bytes, block: DumpBlock) -> InputError:
        """A statement without its end is a dump without its end; others are not what they should be."""
        if block.last and not line.rstrip().endswith(b";"):
            return DumpError(
                self.label,
                found="an end in the middle of a statement",
                expected="a whole dump",
                remedy="Fetch the file again and repeat the command: it goes on from what was read",
            )
        start = line.find(b"(")
        while start >= 0 and (row := self._rows.match(line, start)) is not None:
            start = row.end() + 1
        return InputError(
            f"{self.label}, before byte {block.point.done:,}",
            found=f"a row that does not fit: {line[max(start, 0) :][:60].decode('utf-8', 'replace')!r}",
            expected=f"INSERT INTO `{self.name}` VALUES (…),(…); with {self._width} values in each row",
            remedy="Fetch the file again",
        )


_BLANKS = bytes(ord(" ") if chr(code) in "();," else code for code in range(256))


def _row(columns: Mapping[str, bool], wanted: Sequence[str], *, capture: bool) -> bytes:
    cells = [rb"(" + _CELL + rb")" if capture and column in wanted else _CELL for column in columns]
    if capture and list(wanted) != [column for column in columns if column in wanted]:
        raise ValueError("columns must be asked for in the order of the table")
    return rb"\(" + rb",".join(cells) + rb"\)"


def _statement(name: str, columns: Mapping[str, bool]) -> bytes:
    row = _row(columns, (), capture=False)
    return rb"(?:" + row + rb",)*+" + row + rb";"


def _strings(cells: Sequence[bytes]) -> tuple[Arrow, np.ndarray]:
    """Quoted texts as strings, and which of them are none."""
    bare = [None if cell == b"NULL" else cell[1:-1] if b"\\" not in cell else _plain(cell[1:-1]) for cell in cells]
    array = pa.array(bare, pa.binary())
    wrong = np.zeros(len(bare), np.bool_)
    try:
        return array.cast(pa.string()), wrong
    except pa.ArrowInvalid:
        for at, cell in enumerate(bare):
            try:
                (cell or b"").decode()
            except UnicodeDecodeError:
                wrong[at] = True
        return pc.if_else(pa.array(wrong), pa.scalar(b"", pa.binary()), array).cast(pa.string()), wrong


def _plain(text: bytes) -> bytes:
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), text)
