"""Parquet files in Karat's columns: opening, checking, and reading in partitions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from karat.formats.parsing.arrow_tables import unknown_field_error
from karat.model.corpus import TEXT_FACTS, add_text_facts
from karat.model.document import GOLD_LAYOUT, PREDICTIONS_LAYOUT
from karat.model.errors import InputError, check_layout_version
from karat.model.json.decoder import JsonError, decode_json
from karat.model.spec.engine import ROW
from karat.model.spec.format import ByteSource
from karat.model.tables import checks
from karat.model.tables.arrow import Arrow
from karat.model.tables.schema import GOLD, PREDICTIONS, UnknownFieldError, conform_array, conform_table
from karat.storage.files import Source, printable_path
from karat.storage.parquet import check_parquet_size

METADATA_KEY = b"karat"
"""Key of the file's metadata for name and metadata of the corpus or run."""

LAYOUT_KEY = b"karat-layout"
"""Key of the file's metadata for the layout; files without it come from other programs or from the first layout."""

_ITEMS = ("labels", "predictions")
_PARTITION_SIZE = 100_000  # rows above which a file is read in several partitions
_BATCH_BYTES = 1 << 27  # read at once, estimated from the sizes of row groups


def open_parquet(source: ByteSource, **options: Any) -> Arrow:  # noqa: ANN401  # options of pyarrow
    """Open a Parquet file, by its path if possible, so that only the requested parts are read.

    `options` are passed to pyarrow. Raise `InputError` if the file is damaged.
    """
    is_utf8_path = printable_path(source.path) == source.path  # as Arrow assumes
    can_seek = is_utf8_path and not source.is_single_pass and not source.is_compressed
    data: Any = source.path if can_seek else pa.BufferReader(source.read_bytes())
    try:
        file = pq.ParquetFile(data, **options)
        _ = file.schema_arrow.names  # invalid UTF-8 in names is reported only here
        if "metadata" not in options:  # the size of known metadata has been checked
            stored_size = Path(source.path).stat().st_size if can_seek else data.size()
            check_parquet_size(
                file, source.label, stored_size, lambda columns: pq.ParquetFile(data, read_dictionary=columns)
            )
        return file
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise _damaged_file_error(source, problem) from None


def read_columns(file: Arrow, names: Sequence[str], source: ByteSource) -> Arrow:
    """Read some columns of all rows, with entities as dictionary arrays where possible."""
    groups = range(file.num_row_groups)
    if groups:
        grouped_file = open_parquet(source, metadata=file.metadata, read_dictionary=_find_entity_columns(file.schema))
        try:
            return pa.concat_tables(grouped_file.read_row_group(group, columns=names) for group in groups)
        except pa.ArrowNotImplementedError:  # several dictionaries, since the first was full
            pass
    return file.read(columns=names)


def _find_entity_columns(schema: Arrow) -> list[str]:
    """Return the paths of the columns `entity` in labels or predictions; the name of list members is ignored."""
    columns = map(schema.column, range(len(schema)))
    strings = [column.path.split(".") for column in columns if column.physical_type == "BYTE_ARRAY"]
    return [".".join(path) for path in strings if len(path) == 4 and path[0] in _ITEMS and path[-1] == "entity"]


def _damaged_file_error(source: ByteSource, problem: Exception) -> InputError:
    """Build the error for a file that cannot be read."""
    return InputError(
        source.label,
        actual=f"a Parquet file that cannot be read ({problem})",
        expected="a complete Parquet file",
        remedy="Write or fetch the file again",
    )


def check_columns(file: Arrow, schema: Arrow, source: ByteSource, *, has_texts: bool = False) -> list[str]:
    """Return the columns of the file in the order of `schema`; raise `InputError` if one is unknown or duplicate.

    A missing column `id` or an unsupported layout version is an error as well. With `has_texts`, there may be a column
    `text` besides those of `schema`, which is not returned.
    """
    layout = (file.schema_arrow.metadata or {}).get(LAYOUT_KEY, b"").decode(errors="replace")
    check_layout_version(source.label, layout, GOLD_LAYOUT, PREDICTIONS_LAYOUT)
    names = list(file.schema_arrow.names)
    unknown = [name for name in names if name not in schema.names and not (has_texts and name == "text")]
    duplicates = [name for name in names if names.count(name) > 1]
    if unknown or duplicates or "id" not in names:
        raise InputError(
            source.label,
            actual=f"the unknown column {unknown[0]!r}"
            if unknown
            else f"the duplicate column {duplicates[0]!r}"
            if duplicates
            else "no column 'id'",
            expected=f"columns out of {', '.join(schema.names)}",
            remedy="Rename or drop the column, or name the format of the file",
        )
    return [name for name in schema.names if name in names]


def check_items(table: Arrow, schema: Arrow, source: ByteSource) -> Arrow:
    """Return the table unchanged; raise `InputError` if its labels or predictions lack start, end or entity."""
    items = "labels" if schema is GOLD else "predictions"
    for name in ("start", "end", "entity"):
        if table.schema.field(items).type.value_type.get_field_index(name) < 0:
            raise InputError(
                source.label,
                actual=f"{items} without a field `{name}`",
                expected="start, end and entity (null for NIL; `linked` false if unlinked)",
                remedy="Add the field",
            )
    return table


def read_table(read: Callable[[], Arrow], schema: Arrow, source: ByteSource, *, has_items: bool = True) -> Arrow:
    """Call `read` and convert the table it returns to the types of the schema; raise `InputError` if that fails.

    Without `has_items`, the table has neither labels nor predictions.
    """
    try:
        table = read()
        table.validate(full=True)
        return conform_table(table, schema) if has_items else _convert_columns(table, schema)
    except UnknownFieldError as problem:
        raise unknown_field_error(source.label, problem, table) from None
    except TypeError as problem:
        raise InputError(
            source.label,
            actual=f"a column of another type at {problem}",
            expected="the types of the documentation page 'Karat files'",
            remedy="Cast the column, and write the file again",
        ) from None
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise _damaged_file_error(source, problem) from None


def _convert_columns(table: Arrow, schema: Arrow) -> Arrow:
    """Convert the columns of a table, which may be some of the schema's, to the types of the schema."""
    columns = {}
    for name in table.column_names:
        kind = schema.field(name).type
        chunks = [conform_array(chunk, kind, name) for chunk in table.column(name).chunks]
        columns[name] = pa.chunked_array(chunks, None if chunks else kind)
    return pa.table(columns)


def lacks_items(file: Arrow, schema: Arrow) -> bool:
    """Return whether a file of another program has no column with labels or predictions of any kind."""
    evidence = {"labels", "tags", "relations"} if schema is GOLD else {"predictions", "tags", "relations", "invented"}
    metadata = file.schema_arrow.metadata or {}
    return not (evidence & set(file.schema_arrow.names)) and not {LAYOUT_KEY, METADATA_KEY} & metadata.keys()


def require_predictions(file: Arrow, source: ByteSource) -> None:
    """Raise `InputError` if a file of predictions has no column with predictions."""
    if lacks_items(file, PREDICTIONS):
        raise InputError(
            source.label,
            actual="no column `predictions`",
            expected="predictions",
            remedy="Add the column, with empty lists if there are none",
        )


def read_metadata(file: Arrow) -> dict[str, str]:
    """Return the metadata of the corpus or run that a file stores; empty if there are none or they are invalid."""
    stored = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
    try:
        metadata = decode_json(stored) if stored else {}
    except JsonError:
        return {}
    return {str(key): str(value) for key, value in metadata.items()} if isinstance(metadata, dict) else {}


@dataclass(frozen=True, slots=True)
class ParquetPartition:
    """A part of a corpus or run: some row groups of one file."""

    path: str
    """Path of the file."""
    is_gold: bool
    """Whether the rows are gold documents."""
    groups: tuple[int, ...]
    """Row groups of the file."""
    first_row: int
    """Row of the whole data with which the partition begins."""
    has_text: bool = False
    """Whether to read the texts."""

    def tables(self, size: int, columns: Sequence[str] | None = None) -> Iterator[Arrow]:
        """Yield the rows in order, at most `size` at a time, with a column `ROW` of their numbers in the whole data.

        `columns` limits the columns. With None, all are read, and length and digest replace texts unless `has_text`.
        """
        source, schema = Source(self.path), GOLD if self.is_gold else PREDICTIONS
        file, row = open_parquet(source), self.first_row
        names = [name for name in check_columns(file, schema, source) if columns is None or name in columns]
        size = min(size, _get_batch_size(file, self.groups))
        batches = file.iter_batches(batch_size=size, row_groups=list(self.groups), columns=names)
        while (
            table := read_table(lambda: _read_next_batch(batches, names), schema, source, has_items=columns is None)
        ).num_columns:
            if columns is None:
                table = self._replace_texts(check_items(table, schema, source))
            yield table.append_column(ROW, pa.array(np.arange(row, row + table.num_rows)))
            row += table.num_rows

    def _replace_texts(self, table: Arrow) -> Arrow:
        """Add length and digest of the texts, and drop the texts themselves unless `has_text`.

        A table without texts, or with a missing text, is returned unchanged.
        """
        if "text" not in table.column_names or table.column("text").null_count:
            return table  # the check reports the row
        table = add_text_facts(table)
        return table if self.has_text else table.drop_columns(["text"])


def _get_batch_size(file: Arrow, groups: Sequence[int]) -> int:
    """Return how many rows to read together, so that a batch has about 128 MiB even in the group of largest rows."""
    row_groups = [file.metadata.row_group(group) for group in groups]
    return (
        int(min((group.num_rows * _BATCH_BYTES // max(1, group.total_byte_size) for group in row_groups), default=1))
        or 1
    )


def _read_next_batch(batches: Iterator[Arrow], names: Sequence[str]) -> Arrow:
    """Return the next rows as a table of the columns `names`, or a table without columns at the end."""
    for batch in batches:
        if batch.num_rows:
            return pa.Table.from_batches([batch]).select(list(names))
    return pa.table({})


class _File(NamedTuple):
    """A file of a corpus or run, with its first row in the whole data."""

    label: str
    first_row: int


@dataclass(frozen=True)
class ParquetPartitions:
    """A corpus or run in partitions: a Parquet file, or all files of a folder in the order of their names."""

    name: str
    """Name of the corpus or run."""
    metadata: Mapping[str, str]
    """Metadata shared by all files."""
    partitions: tuple[ParquetPartition, ...]
    """Partitions in order."""
    schema: Arrow
    """Columns of the tables."""
    files: tuple[_File, ...]
    """Files with their first rows."""
    rows: int
    """Number of rows."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Counts of skipped data."""

    def __len__(self) -> int:
        return self.rows

    def locate_row(self, row: int) -> str:
        """Return file and row in it, counted from 1, for a row of the whole data, for error messages."""
        file = self.files[bisect_right([file.first_row for file in self.files], row) - 1]
        return f"{file.label}: row {row - file.first_row + 1}"

    def with_text(self) -> ParquetPartitions:
        """Return a copy whose partitions also read the texts of documents."""
        if "text" in self.schema.names:
            return self
        schema = self.schema.append(GOLD.field("text"))
        return replace(
            self, partitions=tuple(replace(partition, has_text=True) for partition in self.partitions), schema=schema
        )

    def tables(self, size: int) -> Iterator[Arrow]:
        """Yield all rows in order, at most `size` at a time."""
        for partition in self.partitions:
            yield from partition.tables(size)


def is_parquet_folder(names: Sequence[str]) -> bool:
    """Return whether there are files and all are Parquet; files whose names begin with `_` (Spark's) are ignored."""
    visible_names = [name for name in names if not name.rpartition("/")[2].startswith("_")]
    return bool(visible_names) and all(name.endswith(".parquet") for name in visible_names)


def list_partition_files(source: ByteSource) -> list[str]:
    """Return the Parquet files of a folder, in the order of their names."""
    return [name for name in source.file_names if is_parquet_folder([name])]


def open_parquet_partitions(source: ByteSource, *, is_gold: bool) -> ParquetPartitions:
    """Open a file or a folder of files, reading only their metadata; raise `InputError` if there are no rows.

    The metadata of a folder are the metadata that all its files share.
    """
    partitions: list[ParquetPartition] = []
    files: list[_File] = []
    schemas: list[Arrow] = []
    file_metadata: list[dict[str, str]] = []
    rows = 0
    for part in [source.get_child(name) for name in list_partition_files(source)] if source.is_folder else [source]:
        file = open_parquet(part)
        schemas.append(_get_schema(file, part, is_gold=is_gold))
        files.append(_File(part.label, rows))
        file_metadata.append(read_metadata(file))
        for groups, count in _group_row_groups(file):
            partitions.append(ParquetPartition(part.path, is_gold, groups, rows))
            rows += count
    if not rows:
        checks.require_documents(pa.table({"id": []}), source.label)
    metadata = {
        key: value for key, value in file_metadata[0].items() if all(other.get(key) == value for other in file_metadata)
    }
    name = metadata.pop("name" if is_gold else "system", source.stem)
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    return ParquetPartitions(name, metadata, tuple(partitions), schema, tuple(files), rows)


def _get_schema(file: Arrow, source: ByteSource, *, is_gold: bool) -> Arrow:
    """Return the columns of a file as its partition yields them: length and digest instead of the text, and `ROW`."""
    schema = GOLD if is_gold else PREDICTIONS
    names = check_columns(file, schema, source)
    if not is_gold:
        require_predictions(file, source)
    empty_table = read_table(lambda: file.schema_arrow.empty_table().select(names), schema, source)
    if "text" in names:
        empty_table = empty_table.drop_columns(["text"])
        for name, kind in zip(TEXT_FACTS, (pa.int32(), pa.int64()), strict=True):
            empty_table = empty_table.append_column(name, pa.array([], kind))
    return empty_table.append_column(ROW, pa.array([], pa.int64())).schema


def _group_row_groups(file: Arrow) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield consecutive row groups of a file, small ones together up to 100,000 rows, with the number of their rows."""
    groups: list[int] = []
    total_rows = 0
    for group in range(file.num_row_groups):
        n_rows = file.metadata.row_group(group).num_rows
        if groups and total_rows + n_rows > _PARTITION_SIZE:
            yield tuple(groups), total_rows
            groups, total_rows = [], 0
        groups.append(group)
        total_rows += n_rows
    if groups:
        yield tuple(groups), total_rows
