"""Parquet files in Karat's columns: how they are opened, checked and read piece by piece."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from karat.errors import InputError, refuse_newer
from karat.model.corpus import TEXT_FACTS, with_text_facts
from karat.model.document import ANSWERS_LAYOUT, GOLD_LAYOUT
from karat.model.tables import check
from karat.model.tables.arrow import Arrow
from karat.model.tables.schema import ANSWERS, GOLD, conform, conformed
from karat.spec.engine import ROW
from karat.spec.format import Bytes
from karat.storage.files import Source, readable

ABOUT = b"karat"
"""Where the file's metadata keep the name and what is known about the whole."""

LAYOUT = b"karat-layout"
"""Where they keep the layout with its number; files without one were made elsewhere, or before there was a second."""

_ITEMS = ("labels", "answers")
_PIECE = 100_000  # rows from which on a file is read in several pieces
_BYTES = 1 << 27  # read at once, as far as the sizes of row groups tell


def opened(source: Bytes, **how: Any) -> Arrow:  # noqa: ANN401  # whatever pyarrow takes
    """A Parquet file; from its place where possible, so that only what is asked for is read."""
    utf8 = readable(source.given) == source.given  # which Arrow takes every path for
    direct = utf8 and not source.passing and not source.compressed
    try:
        file = pq.ParquetFile(source.given if direct else pa.BufferReader(source.data()), **how)
        _ = file.schema_arrow.names  # names that are no UTF-8 show only here
        return file
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise _damaged(source, problem) from None


def by_group(file: Arrow, names: Sequence[str], source: Bytes) -> Arrow:
    """Some columns, with entities as the dictionaries that each row group holds them in."""
    groups = range(file.num_row_groups)
    if groups:
        own = opened(source, metadata=file.metadata, read_dictionary=_entities(file.schema))
        try:
            return pa.concat_tables(own.read_row_group(group, columns=names) for group in groups)
        except pa.ArrowNotImplementedError:  # more than one dictionary, since the first was full
            pass
    return file.read(columns=names)


def _entities(schema: Arrow) -> list[str]:
    """The columns with the entities of labels or answers, whatever Parquet calls the members of a list."""
    columns = map(schema.column, range(len(schema)))
    strings = [column.path.split(".") for column in columns if column.physical_type == "BYTE_ARRAY"]
    return [".".join(path) for path in strings if len(path) == 4 and path[0] in _ITEMS and path[-1] == "entity"]


def _damaged(source: Bytes, problem: Exception) -> InputError:
    return InputError(
        source.label,
        found=f"a Parquet file that cannot be read ({problem})",
        expected="a complete Parquet file",
        remedy="Write or fetch the file again",
    )


def known_columns(file: Arrow, schema: Arrow, source: Bytes) -> list[str]:
    """The columns of the file, all of which must be known, and `id` must be one of them."""
    said = (file.schema_arrow.metadata or {}).get(LAYOUT, b"").decode(errors="replace")
    refuse_newer(source.label, said, GOLD_LAYOUT, ANSWERS_LAYOUT)
    names = list(file.schema_arrow.names)
    unknown = [name for name in names if name not in schema.names]
    twice = [name for name in names if names.count(name) > 1]
    if unknown or twice or "id" not in names:
        raise InputError(
            source.label,
            found=f"the unknown column {unknown[0]!r}"
            if unknown
            else f"the column {twice[0]!r} twice"
            if twice
            else "no column 'id'",
            expected=f"columns out of {', '.join(schema.names)}",
            remedy="Rename or drop the column, or name the format of the file",
        )
    return [name for name in schema.names if name in names]


def complete(table: Arrow, schema: Arrow, source: Bytes) -> Arrow:
    """The table, whose labels or answers must have what each of them needs."""
    items = "labels" if schema is GOLD else "answers"
    for name in ("start", "end", "entity"):
        if table.schema.field(items).type.value_type.get_field_index(name) < 0:
            raise InputError(
                source.label,
                found=f"{items} without a field `{name}`",
                expected="start, end, and entity (null for NIL; `linked` false where there is no link)",
                remedy="Add the field",
            )
    return table


def read(call: Callable[[], Arrow], schema: Arrow, source: Bytes, *, whole: bool = True) -> Arrow:
    """What a call reads, in the types of the schema; `whole` if labels or answers have to be there."""
    try:
        table = call()
        table.validate(full=True)
        return conformed(table, schema) if whole else _columns(table, schema)
    except TypeError as problem:
        raise InputError(
            source.label,
            found=f"a column of another type at {problem}",
            expected="the types of docs/formats.md",
            remedy="Cast the column before writing the file",
        ) from None
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise _damaged(source, problem) from None


def _columns(table: Arrow, schema: Arrow) -> Arrow:
    """Some columns in the types of the schema."""
    found = {}
    for name in table.column_names:
        kind = schema.field(name).type
        chunks = [conform(chunk, kind, name) for chunk in table.column(name).chunks]
        found[name] = pa.chunked_array(chunks, None if chunks else kind)
    return pa.table(found)


def about_of(file: Arrow) -> dict[str, str]:
    """What the file's metadata say about the whole."""
    stored = (file.schema_arrow.metadata or {}).get(ABOUT)
    try:
        about = json.loads(stored) if stored else {}
    except ValueError:
        return {}
    return {str(key): str(value) for key, value in about.items()} if isinstance(about, dict) else {}


@dataclass(frozen=True, slots=True)
class ParquetPiece:
    """Some row groups of a file, of which the first row is row `first` of the whole."""

    path: str
    gold: bool
    groups: tuple[int, ...]
    first: int
    text: bool = False

    def tables(self, size: int, only: Sequence[str] | None = None) -> Iterator[Arrow]:
        """The rows in order, at most `size` at a time: some columns or all of them, and `ROW`."""
        source, schema = Source(self.path), GOLD if self.gold else ANSWERS
        file, row = opened(source), self.first
        names = [name for name in known_columns(file, schema, source) if only is None or name in only]
        size = min(size, _rows_at_once(file, self.groups))
        batches = file.iter_batches(batch_size=size, row_groups=list(self.groups), columns=names)
        while (table := read(lambda: _next(batches, names), schema, source, whole=only is None)).num_columns:
            if only is None:
                table = self._without_text(complete(table, schema, source))
            yield table.append_column(ROW, pa.array(np.arange(row, row + table.num_rows)))
            row += table.num_rows

    def _without_text(self, table: Arrow) -> Arrow:
        """The table with length and fingerprint in place of the texts, unless these are asked for."""
        if "text" not in table.column_names or table.column("text").null_count:
            return table  # the check will say where
        table = with_text_facts(table)
        return table if self.text else table.drop_columns(["text"])


def _rows_at_once(file: Arrow, groups: Sequence[int]) -> int:
    """How many rows may be read together, if all are as long as those of the longest row group are on the average."""
    known = [file.metadata.row_group(group) for group in groups]
    return int(min((group.num_rows * _BYTES // max(1, group.total_byte_size) for group in known), default=1)) or 1


def _next(batches: Iterator[Arrow], names: Sequence[str]) -> Arrow:
    """The next rows as a table, one without columns where there are no more."""
    for batch in batches:
        if batch.num_rows:
            return pa.Table.from_batches([batch]).select(list(names))
    return pa.table({})


class _File(NamedTuple):
    label: str
    first: int


@dataclass(frozen=True)
class ParquetParts:
    """The documents or replies of one Parquet file, or of all files of a folder in the order of their names."""

    name: str
    about: Mapping[str, str]
    pieces: tuple[ParquetPiece, ...]
    schema: Arrow
    files: tuple[_File, ...]
    rows: int
    skipped: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.rows

    def where(self, row: int) -> str:
        """The file and the row in it, counted from 1."""
        file = self.files[bisect_right([file.first for file in self.files], row) - 1]
        return f"{file.label}: row {row - file.first + 1}"

    def with_text(self) -> ParquetParts:
        """The same with the texts of documents."""
        if "text" in self.schema.names:
            return self
        schema = self.schema.append(GOLD.field("text"))
        return replace(self, pieces=tuple(replace(piece, text=True) for piece in self.pieces), schema=schema)

    def tables(self, size: int) -> Iterator[Arrow]:
        """All rows in order."""
        for piece in self.pieces:
            yield from piece.tables(size)


def are_parts(names: Sequence[str]) -> bool:
    """Whether the files of a folder are Parquet, beside those that Spark and others leave there."""
    shown = [name for name in names if not name.rpartition("/")[2].startswith("_")]
    return bool(shown) and all(name.endswith(".parquet") for name in shown)


def part_names(source: Bytes) -> list[str]:
    """The Parquet files of a folder, in the order of their names."""
    return [name for name in source.names if are_parts([name])]


def parquet_parts(source: Bytes, *, gold: bool) -> ParquetParts:
    """A file or a folder of files; only their metadata are read.

    What is said about the whole is what all files of a folder say alike.
    """
    pieces: list[ParquetPiece] = []
    files: list[_File] = []
    schemas: list[Arrow] = []
    said: list[dict[str, str]] = []
    rows = 0
    for part in [source.inside(name) for name in part_names(source)] if source.folder else [source]:
        file = opened(part)
        schemas.append(_schema(file, part, gold=gold))
        files.append(_File(part.label, rows))
        said.append(about_of(file))
        for groups, count in _divided(file):
            pieces.append(ParquetPiece(part.given, gold, groups, rows))
            rows += count
    if not rows:
        check.some(pa.table({"id": []}), source.label)
    about = {key: value for key, value in said[0].items() if all(other.get(key) == value for other in said)}
    name = about.pop("name" if gold else "system", source.stem)
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    return ParquetParts(name, about, tuple(pieces), schema, tuple(files), rows)


def _schema(file: Arrow, source: Bytes, *, gold: bool) -> Arrow:
    """The columns and fields of a file as pieces give them."""
    schema = GOLD if gold else ANSWERS
    names = known_columns(file, schema, source)
    nothing = read(lambda: file.schema_arrow.empty_table().select(names), schema, source)
    if "text" in names:
        nothing = nothing.drop_columns(["text"])
        for name, kind in zip(TEXT_FACTS, (pa.int32(), pa.int64()), strict=True):
            nothing = nothing.append_column(name, pa.array([], kind))
    return nothing.append_column(ROW, pa.array([], pa.int64())).schema


def _divided(file: Arrow) -> Iterator[tuple[tuple[int, ...], int]]:
    """The row groups of a file, several small ones together, with the number of their rows."""
    waiting: list[int] = []
    rows = 0
    for group in range(file.num_row_groups):
        own = file.metadata.row_group(group).num_rows
        if waiting and rows + own > _PIECE:
            yield tuple(waiting), rows
            waiting, rows = [], 0
        waiting.append(group)
        rows += own
    if waiting:
        yield tuple(waiting), rows
