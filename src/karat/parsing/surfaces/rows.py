"""The rows of a CSV, TSV, JSON or JSONL file, whatever they mean."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from karat.errors import InputError
from karat.model.defects import pass_over, sound
from karat.parsing.json.records import json_file, records, shaped
from karat.parsing.lines import decoded
from karat.spec.format import Bytes

_BOM = b"\xef\xbb\xbf"
_FIRST = 20


class TableRow(NamedTuple):
    """A row of a table or an object of JSON, and where it stands."""

    fields: Mapping[str, Any]
    where: str


def names_in(source: Bytes, *, numbered: bool = False) -> list[str]:
    """The columns that a file has, those of the first objects where it is JSON; none where it is no table."""
    found: dict[str, None] = {}
    try:
        if is_json(source):
            for row in islice(rows(source, numbered=False), _FIRST):
                found.update(dict.fromkeys(row.fields))
        elif (cells := next(_lines(source), None)) is not None:
            found.update(dict.fromkeys(_header(cells[0], numbered)))
    except InputError:  # it is said where the table is read
        pass
    return [*found]


def is_json(source: Bytes) -> bool:
    """Whether a file is JSON and no table of cells."""
    return source.opening.removeprefix(_BOM).lstrip().startswith((b"{", b"["))


def has(fields: Mapping[str, Any], name: str) -> bool:
    """Whether a row has a column."""
    return name in fields or ("." in name and value_at(fields, name) is not None)


def value_at(fields: Mapping[str, Any], name: str) -> object:
    """The value of a column, or what its path leads to: `meta.id`."""
    if name in fields:
        return fields[name]
    found: object = fields
    for step in name.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def rows(source: Bytes, *, numbered: bool) -> Iterator[TableRow]:
    """The rows of a file; of a table without header columns are `numbered` from 1."""
    start = source.opening.removeprefix(_BOM).lstrip()
    if start.startswith(b"["):
        yield from _members(json_file(source), source)
    elif start.startswith(b"{"):
        yield from _objects(source)
    else:
        yield from _cells(source, numbered)


def _members(value: object, source: Bytes) -> Iterator[TableRow]:
    members = enumerate(shaped(value, list[Any], source.label), 1)
    places = ((member, f"{source.label}: entry {number}") for number, member in members)
    for (_, where), fields in sound(places, lambda one: shaped(one[0], dict[str, Any], one[1])):
        yield TableRow(fields, where)


def _objects(source: Bytes) -> Iterator[TableRow]:
    """Objects on lines of their own; or one object over many lines, with the list of them."""
    first = source.data().removeprefix(_BOM).lstrip().partition(b"\n")[0]
    try:
        msgspec.json.decode(first)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        whole = shaped(json_file(source), dict[str, Any], source.label)
        lists = [found for found in whole.values() if isinstance(found, list) and found and isinstance(found[0], dict)]
        if len(lists) == 1:
            yield from _members(lists[0], source)
        else:
            yield TableRow(whole, source.label)
        return
    yield from (TableRow(record.fields, record.where) for record in records(source))


def _cells(source: Bytes, numbered: bool) -> Iterator[TableRow]:
    header: list[str] = []
    for cells, line in _lines(source):
        if not header:
            header = _header(cells, numbered)
            if len(set(header)) < len(header):
                raise _broken(source, line, f"a header with a name twice ({', '.join(header)[:80]})", "each name once")
            if not numbered:
                continue
        if len(cells) != len(header):
            pass_over(_broken(source, line, f"{len(cells)} cells", f"{len(header)}, as in the first row"))
            continue
        yield TableRow(dict(zip(header, cells, strict=True)), f"{source.label}:{line}")


def _header(cells: list[str], numbered: bool) -> list[str]:
    return [str(number) for number in range(1, len(cells) + 1)] if numbered else [cell.strip() for cell in cells]


def _lines(source: Bytes) -> Iterator[tuple[list[str], int]]:
    """The cells of each row that has any, and the number of its line."""
    text = decoded(source.data().removeprefix(_BOM), source)
    csv.field_size_limit(max(csv.field_size_limit(), min(sys.maxsize, 2**31 - 1)))  # texts are longer than its 128 KiB
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as problem:
            raise _broken(source, line, f"a row that is no CSV ({problem})", "rows of CSV or TSV") from None
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield cells, line


def _broken(source: Bytes, line: int, found: str, expected: str) -> InputError:
    remedy = "Put cells with separators or quotes into double quotes, and double the quotes inside"
    return InputError(f"{source.label}:{line}", found=found, expected=expected, remedy=remedy)


def _separator(text: str) -> str:
    """Tabs if the first line has one, else what it has more of, commas or semicolons."""
    first = text.lstrip().partition("\n")[0]
    return "\t" if "\t" in first else ";" if first.count(";") > first.count(",") else ","
