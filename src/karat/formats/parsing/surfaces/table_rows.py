"""Rows of a CSV, TSV, JSON, JSONL, Arrow or Parquet file, without interpretation of their columns."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from karat.formats.parsing.arrow_tables import is_arrow, read_arrow_table
from karat.formats.parsing.class_labels import read_named_rows
from karat.formats.parsing.json.records import convert_value, read_json, read_records
from karat.formats.parsing.lines import decode_utf8
from karat.model.defects import map_valid, skip_or_raise
from karat.model.errors import InputError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.spec.format import ByteSource

_BOM = b"\xef\xbb\xbf"
_N_SAMPLED = 20


class TableRow(NamedTuple):
    """A row of a table or a JSON object, with its values by column."""

    fields: Mapping[str, Any]
    """Values by column."""
    location: str
    """File and line, for error messages."""
    names: tuple[str, ...] = ()
    """The columns that exist, if `fields` has only those that are read, for error messages."""
    null_is_empty: bool = False
    """Whether null is an empty cell, as in Arrow tables and data frames, rather than a value."""


def read_column_names(source: ByteSource, *, is_headerless: bool = False) -> list[str]:
    """Return the column names of a file (for JSON, of the first 20 objects); an empty list if it is not a table.

    If `is_headerless`, these are the numbers from 1.
    """
    names: dict[str, None] = {}
    try:
        if is_json(source):
            for row in islice(read_rows(source, is_headerless=False), _N_SAMPLED):
                names.update(dict.fromkeys(row.fields))
        elif is_arrow(source):
            names.update(dict.fromkeys(read_arrow_table(source).column_names))
        elif not source.is_folder and (cells := next(_read_csv_lines(source), None)) is not None:
            names.update(dict.fromkeys(_get_header(cells[0], is_headerless)))
    except InputError:  # reported when the table is read
        pass
    return [*names]


def read_nested_names(source: ByteSource) -> list[str]:
    """Return the column names of a file, with paths to the fields of lists of objects (`entities.start`)."""
    if not is_nested(source):
        return read_column_names(source)
    names: dict[str, None] = {}
    for row in read_sample(source):
        for name, value in row.fields.items():
            names.update(dict.fromkeys(list_fields(name, value) or [name]))
    return [*names]


def read_sample(source: ByteSource) -> list[TableRow]:
    """Return the first rows of a file, up to the first invalid one, which is reported when the table is read."""
    rows: list[TableRow] = []
    with suppress(InputError):
        rows.extend(islice(read_rows(source, is_headerless=False), _N_SAMPLED))
    return rows


def list_fields(path: str, value: object) -> list[str]:
    """Return the paths of the fields of the objects in a list; none if the value is not a list of objects."""
    members = value if isinstance(value, list) else []
    names = {name: None for member in members if isinstance(member, Mapping) for name in member}
    return [f"{path}.{name}" for name in names]


def is_json(source: ByteSource) -> bool:
    """Return whether the file begins like a JSON object or array rather than a table of cells."""
    return not source.is_folder and source.first_bytes.removeprefix(_BOM).lstrip().startswith((b"{", b"["))


def is_nested(source: ByteSource) -> bool:
    """Return whether the values of a file can be lists and objects, as in JSON, Arrow and Parquet."""
    return is_json(source) or is_arrow(source)


def get_value(fields: Mapping[str, Any], name: str) -> object:
    """Return the value of a column, or of a path such as `meta.id` into nested objects; None if there is none."""
    if name in fields:
        return fields[name]
    value: object = fields
    for step in name.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def read_rows(source: ByteSource, *, is_headerless: bool) -> Iterator[TableRow]:
    """Yield the rows of a file, or of a folder of the library datasets.

    If a table of cells `is_headerless`, its columns are numbered from 1.

    The error policy decides whether an invalid row raises `InputError`, or is skipped and counted in `Defects`.
    """
    if is_arrow(source):
        for number, fields in enumerate(read_named_rows(read_arrow_table(source)), 1):
            yield TableRow(fields, f"{source.label}: row {number}", null_is_empty=True)
        return
    start = source.first_bytes.removeprefix(_BOM).lstrip()
    if start.startswith(b"["):
        yield from _read_members(read_json(source), source)
    elif start.startswith(b"{"):
        yield from _read_objects(source)
    else:
        yield from _read_cells(source, is_headerless)


def _read_members(value: object, source: ByteSource) -> Iterator[TableRow]:
    """Yield the objects of a decoded JSON array.

    The error policy decides whether a member that is no object raises `InputError`, or is skipped and counted in
    `Defects`.
    """
    members = enumerate(convert_value(value, list[Any], source.label), 1)
    located = ((member, f"{source.label}: entry {number}") for number, member in members)
    for (_, location), fields in map_valid(located, lambda pair: convert_value(pair[0], dict[str, Any], pair[1])):
        yield TableRow(fields, location)


def _read_objects(source: ByteSource) -> Iterator[TableRow]:
    """Yield one object per line; of a single object over several lines, the members of its only list of objects.

    An object without such a list, or with several, is one row.
    """
    first_line = source.read_bytes().removeprefix(_BOM).lstrip().partition(b"\n")[0]
    try:
        decode_json(first_line)
    except JsonError:
        value = convert_value(read_json(source), dict[str, Any], source.label)
        lists = [field for field in value.values() if isinstance(field, list) and field and isinstance(field[0], dict)]
        if len(lists) == 1:
            yield from _read_members(lists[0], source)
        else:
            yield TableRow(value, source.label)
        return
    yield from (TableRow(record.fields, record.location) for record in read_records(source))


def _read_cells(source: ByteSource, is_headerless: bool) -> Iterator[TableRow]:
    """Yield the rows of a CSV or TSV file.

    The error policy decides whether a row with another number of cells than the first raises `InputError`, or is
    skipped and counted in `Defects`.
    """
    header: list[str] = []
    for cells, line in _read_csv_lines(source):
        if not header:
            header = _get_header(cells, is_headerless)
            if len(set(header)) < len(header):
                raise _table_error(
                    source, line, f"a header with a duplicate name ({', '.join(header)[:80]})", "distinct names"
                )
            if not is_headerless:
                continue
        if len(cells) != len(header):
            skip_or_raise(
                _table_error(source, line, f"{len(cells)} cells", f"{len(header)} cells, as in the first row")
            )
            continue
        yield TableRow(dict(zip(header, cells, strict=True)), f"{source.label}:{line}")


def _get_header(cells: list[str], is_headerless: bool) -> list[str]:
    """Return the column names, given the first row: its cells, or numbers from 1 if `is_headerless`."""
    return [str(number) for number in range(1, len(cells) + 1)] if is_headerless else [cell.strip() for cell in cells]


def _read_csv_lines(source: ByteSource) -> Iterator[tuple[list[str], int]]:
    """Yield the cells and the first line number of each row that is not empty; raise `InputError` for invalid CSV."""
    text = decode_utf8(source.read_bytes().removeprefix(_BOM), source)
    csv.field_size_limit(
        max(csv.field_size_limit(), min(sys.maxsize, 2**31 - 1))
    )  # texts exceed the default of 128 KiB
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_detect_separator(text), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as problem:
            raise _table_error(source, line, f"a row that is not CSV ({problem})", "rows of CSV or TSV") from None
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield cells, line


def _table_error(source: ByteSource, line: int, message: str, expected: str) -> InputError:
    """Build the error for an invalid line of a table."""
    remedy = "Enclose cells with separators or quotes in double quotes, and double the quotes inside"
    return InputError(f"{source.label}:{line}", actual=message, expected=expected, remedy=remedy)


def _detect_separator(text: str) -> str:
    """Return a tab if the first line has one, or else the more frequent of comma and semicolon."""
    first_line = text.lstrip().partition("\n")[0]
    return "\t" if "\t" in first_line else ";" if first_line.count(";") > first_line.count(",") else ","
