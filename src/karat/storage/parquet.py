"""Sorted tables in Parquet files, and the sizes of Parquet and Arrow data in memory.

Sorted tables are written block by block, and read only in the blocks that may hold a key. Sizes are computed before the
data are decoded, because a few kilobytes can describe gigabytes: by compression, run lengths, dictionaries with long
values, or many rows without content. Data that grow by more than the limit `growth` raise `InputError`.
"""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.errors import InputError
from karat.model.tables.arrow import Arrow
from karat.storage.files import ByteMeter, printable_path

ROWS_PER_BLOCK = 1 << 16
"""Number of rows of a block, the unit of reading."""

_CELL: Final = 8  # bytes per value, at least what Karat needs for it
_SMALL_FILE: Final = 1 << 24  # stored bytes below which dictionaries are measured; that takes a second read
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2  # kinds of messages in Arrow's format
_HAVE_LENGTHS: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
_MAX_CACHED_BLOCKS = 32  # per table, to bound memory
_LANDMARK_DISTANCE: Final = 64  # rows from one landmark of a block to the next


def write_sorted(path: Path, schema: Arrow, tables: Iterable[Arrow], *, level: int = 19) -> int:
    """Write tables, which must be sorted by the key over all of them, to one Parquet file; return the number of rows.

    `level`: zstd compression level; the highest takes a hundred times as long as the lowest.
    """
    import pyarrow.parquet as pq

    rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=level, store_schema=False) as writer:
        for table in tables:
            if table.num_rows:
                writer.write_table(table, row_group_size=ROWS_PER_BLOCK)
                rows += table.num_rows
    return rows


class _Block:
    """Some columns of a block with at least one row, each in one chunk, and its keys."""

    def __init__(self, table: Arrow, keys: Arrow) -> None:
        self.table, self._keys = table, keys

    @cached_property
    def _landmarks(self) -> list[str]:
        """The first key, and further keys at equal distances."""
        landmarks: list[str] = self._keys.take(pa.array(range(0, len(self._keys), _LANDMARK_DISTANCE))).to_pylist()
        return landmarks

    def find_rows(self, keys: Arrow) -> Arrow:
        """Return the row of each key, null if there is none; no key may be below the first one of the block.

        Keys must be unique in the block.
        """
        candidates = self._find_candidates(keys)
        if candidates is None:
            return pc.index_in(keys, value_set=self._keys)
        return candidates.take(pc.index_in(keys, value_set=self._keys.take(candidates)))

    def select_rows(self, keys: Arrow) -> Arrow:
        """Return the rows with any of some keys, in order; no key may be below the first one of the block."""
        candidates = self._find_candidates(keys)
        if candidates is None:
            return self.table.filter(pc.is_in(self._keys, value_set=keys))
        return self.table.take(candidates.filter(pc.is_in(self._keys.take(candidates), value_set=keys)))

    def _find_candidates(self, keys: Arrow) -> Arrow | None:
        """Return the rows that may have one of few keys: those from the landmark below it to that above it.

        Returns None for many keys, for which an index of all rows takes less time.
        """
        if len(keys) * _LANDMARK_DISTANCE >= len(self._keys):
            return None
        landmarks = self._landmarks
        sections = {
            section
            for key in keys.to_pylist()
            for section in range(max(bisect_left(landmarks, key) - 1, 0), bisect_right(landmarks, key))
        }
        rows = (np.array(sorted(sections))[:, None] * _LANDMARK_DISTANCE + np.arange(_LANDMARK_DISTANCE)).reshape(-1)
        return pa.array(rows[rows < len(self._keys)])


class SortedTable:
    """A Parquet file that is sorted by the string column `key`; it is read on demand.

    A block is a row group of the file. The methods of the table raise `InputError` if the file is damaged. Threads may
    share a table.
    """

    def __init__(self, path: Path, key: str) -> None:
        self._path, self._key = path, key
        self._blocks: OrderedDict[tuple[int, tuple[str, ...]], _Block] = OrderedDict()
        self._lock = RLock()  # Arrow's reader crashes if two threads read at once

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self._file.metadata.num_rows)

    @property
    def first_key(self) -> str | None:
        """First key; None without rows."""
        return self._bounds[0][0] if self._bounds else None

    def read_all(self, *columns: str) -> Arrow:
        """Return all rows, with the given columns or, without any, all columns."""
        with self._lock:
            return self._file.read(columns=list(columns) or None)

    def iterate_blocks(self, *columns: str) -> Iterator[Arrow]:
        """Yield all rows, block by block, with the given columns or, without any, all columns."""
        for number in range(self._file.metadata.num_row_groups):
            with self._lock:
                block = self._file.read_row_group(number, columns=list(columns) or None)
            yield block

    @property
    def fingerprint(self) -> str:
        """Hash of all rows, independent of the Parquet version that wrote them; the whole file is read each time."""
        digest = hashlib.sha256()
        for block in self.iterate_blocks():
            for column in block.columns:
                for data in _iterate_cell_bytes(column.combine_chunks()):
                    digest.update(data)
        return digest.hexdigest()

    def find_rows(self, keys: Sequence[str] | Arrow, *columns: str) -> Arrow:
        """Return the rows whose key is among `keys`, in file order, with the key and the given columns."""
        sorted_keys = pc.unique(to_string_array(keys)).sort()
        names = (self._key, *columns)
        tables = []
        for number, _, part in self._iterate_key_blocks(sorted_keys):
            tables.append(self._read_block(number, names).select_rows(part))
        return pa.concat_tables(tables) if tables else self._file.schema_arrow.empty_table().select(list(names))

    def look_up(self, keys: Sequence[str] | Arrow, column: str) -> Arrow:
        """Return the value of `column` in the row of each key, in the order of `keys`; null for a key without row.

        Keys in the file must be unique.
        """
        return self.look_up_columns(keys, column)[0]

    def look_up_columns(self, keys: Sequence[str] | Arrow, *columns: str) -> list[Arrow]:
        """Return for each of `columns` the values in the row of each key, in the order of `keys`; null without row.

        Keys in the file must be unique.
        """
        key_array, names = to_string_array(keys), (self._key, *columns)
        if len(key_array) > self.rows:  # sorting the keys would take longer than reading all rows
            table = self.read_all(*names)
            rows = pc.index_in(key_array, value_set=table.column(0).combine_chunks())
            return [column.combine_chunks().take(rows) for column in table.columns[1:]]
        order = pc.sort_indices(key_array)
        sorted_keys = key_array.take(order)
        types = {column: self._file.schema_arrow.field(column).type for column in columns}
        chunks: dict[str, list[Arrow]] = {column: [] for column in columns}
        n_done = 0
        for number, first, part in self._iterate_key_blocks(sorted_keys):
            block = self._read_block(number, names)
            rows = block.find_rows(part)
            for column, type in types.items():
                chunks[column].append(pa.nulls(first - n_done, type))
                chunks[column].append(block.table.column(column).chunk(0).take(rows))
            n_done = first + len(part)
        positions = np.empty(len(key_array), np.int64)
        positions[order.to_numpy()] = np.arange(len(key_array))
        for column, type in types.items():
            chunks[column].append(pa.nulls(len(sorted_keys) - n_done, type))
        return [
            pa.chunked_array(column_chunks).combine_chunks().take(pa.array(positions))
            for column_chunks in chunks.values()
        ]

    def _iterate_key_blocks(self, sorted_keys: Arrow) -> Iterator[tuple[int, int, Arrow]]:
        """Yield number, index of the first key and keys for each block that may hold keys of `sorted_keys`."""
        for number, (low, high) in enumerate(self._bounds):
            first = _find_position(sorted_keys, low)
            last = _find_position(sorted_keys, high, after=True)
            if first < last:
                yield number, first, sorted_keys.slice(first, last - first)

    def _read_block(self, number: int, columns: tuple[str, ...]) -> _Block:
        """Return some columns of a block, from a cache of the blocks used last."""
        with self._lock:
            if (number, columns) not in self._blocks:
                block = self._file.read_row_group(number, columns=list(columns)).combine_chunks()
                self._blocks[number, columns] = _Block(block, block.column(self._key).chunk(0))
                if len(self._blocks) > _MAX_CACHED_BLOCKS:
                    self._blocks.popitem(last=False)
            self._blocks.move_to_end((number, columns))
            return self._blocks[number, columns]

    @cached_property
    def _bounds(self) -> list[tuple[str, str]]:
        """First and last key of each block."""
        metadata, column = self._file.metadata, self._file.schema_arrow.get_field_index(self._key)
        bounds = []
        for number in range(metadata.num_row_groups):
            statistics = metadata.row_group(number).column(column).statistics
            if statistics is None or not statistics.has_min_max:
                with self._lock:
                    keys = self._file.read_row_group(number, columns=[self._key]).column(0)
                bounds.append((keys[0].as_py(), keys[len(keys) - 1].as_py()))
            else:
                bounds.append((str(statistics.min), str(statistics.max)))
        return bounds

    @cached_property
    def _file(self) -> Any:  # noqa: ANN401  # pyarrow ships no types
        """Opened Parquet file; raise `InputError` if it is damaged."""
        import pyarrow.parquet as pq

        try:
            file = pq.ParquetFile(self._path, memory_map=True)
            check_parquet_size(
                file,
                printable_path(str(self._path)),
                self._path.stat().st_size,
                lambda columns: pq.ParquetFile(self._path, memory_map=True, read_dictionary=columns),
            )
            return file
        except (OSError, pa.ArrowInvalid) as problem:
            raise InputError(
                printable_path(str(self._path)),
                actual=f"a damaged table ({str(problem).splitlines()[0]})",
                expected="a Parquet file",
                remedy="Build or copy the snapshot again",
            ) from None


def _iterate_cell_bytes(values: Arrow) -> Iterator[bytes]:
    """Yield bytes that determine the cells of a column: null mask, lengths (of lists and strings) and values."""
    yield values.is_null().to_numpy(zero_copy_only=False).tobytes()
    if pa.types.is_list(values.type):
        yield pc.fill_null(values.value_lengths(), 0).to_numpy(zero_copy_only=False).tobytes()
        yield from _iterate_cell_bytes(values.flatten())
    elif pa.types.is_string(values.type):
        yield pc.fill_null(pc.binary_length(values), 0).to_numpy(zero_copy_only=False).tobytes()
        yield "".join(filter(None, values.to_pylist())).encode()
    else:
        yield pc.fill_null(values, 0).to_numpy(zero_copy_only=False).tobytes()


def to_string_array(keys: Sequence[str] | Arrow) -> Arrow:
    """Return strings as one Arrow array; Arrow data stays uncopied where possible."""
    if isinstance(keys, pa.ChunkedArray):
        return keys.combine_chunks()
    return keys if isinstance(keys, pa.Array) else pa.array(keys, pa.string())


def _find_position(keys: Arrow, key: str, *, after: bool = False) -> int:
    """Return the index at which to insert a key in sorted keys: before equal keys or, with `after`, behind them."""
    if after:
        key += "\0"  # the smallest string after it
    return bisect_left(_Cells(keys), key)


class _Cells(Sequence[str]):
    """The strings of an Arrow array as a sequence."""

    def __init__(self, values: Arrow) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401  # only integers are used
        return self._values[index].as_py()


def check_parquet_size(file: Arrow, where: str, stored_size: int, reopen: Callable[[list[str]], Arrow]) -> None:
    """Raise `InputError` if an open Parquet file of `stored_size` bytes would grow too much in memory.

    `where` names it in the error. `reopen` opens the same file with some columns as dictionaries, which are measured
    too if the file is small and they may be bombs.
    """
    meter = ByteMeter(where, stored_size)
    dictionary_sizes: dict[str, int] = {}
    metadata = file.metadata
    for group_number in range(metadata.num_row_groups):
        group = metadata.row_group(group_number)
        meter.add(group.num_rows * _CELL)
        for number in range(group.num_columns):
            column = group.column(number)
            meter.add(max(column.num_values * _CELL, column.total_uncompressed_size))
            if column.physical_type == "BYTE_ARRAY" and any("DICTIONARY" in name for name in column.encodings):
                possible_size = column.num_values * column.total_uncompressed_size
                dictionary_sizes[column.path_in_schema] = dictionary_sizes.get(column.path_in_schema, 0) + possible_size
    suspects = [path for path, size in dictionary_sizes.items() if meter.exceeds(size)]
    if suspects and stored_size < _SMALL_FILE:
        for size in _measure_columns(reopen(suspects), suspects, metadata.num_row_groups):
            meter.add(size)


def _measure_columns(file: Arrow, paths: list[str], n_groups: int) -> Iterator[int]:
    """Yield the decoded sizes of parts of some columns, whose dictionaries are not decoded."""
    for group in range(n_groups):
        for path in paths:
            try:
                columns = file.read_row_group(group, columns=[path]).columns
                yield sum(measure_array(chunk) for column in columns for chunk in column.chunks)
            except pa.ArrowNotImplementedError:  # several dictionaries in a nested column
                for batch in file.iter_batches(batch_size=1, row_groups=[group], columns=[path]):
                    yield sum(measure_array(column) for column in batch.columns)


def check_arrow_table(table: Arrow, where: str, stored_size: int) -> None:
    """Raise `InputError` if a table would grow too much when its dictionaries are decoded; `where` names the file.

    Raise `pyarrow.ArrowInvalid` if the table is damaged. This comes first: Arrow follows wrong offsets out of its
    buffers, which ends the process.
    """
    table.validate(full=True)
    meter = ByteMeter(where, stored_size)
    for column in table.columns:
        for chunk in column.chunks:
            meter.add(measure_array(chunk))


def measure_array(array: Arrow) -> int:
    """Return the bytes of an Arrow array with decoded dictionaries, at least eight per value."""
    kind, floor = array.type, len(array) * _CELL
    if pa.types.is_dictionary(kind):
        value_type = kind.value_type
        if not any(has_length(value_type) for has_length in _HAVE_LENGTHS):
            return floor
        lengths = pc.cast(pc.binary_length(array.dictionary), pa.int64())
        return floor + int(pc.sum(lengths.take(array.indices)).as_py() or 0)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        return floor + measure_array(array.flatten())
    if pa.types.is_struct(kind):
        return floor + sum(measure_array(array.field(number)) for number in range(kind.num_fields))
    return max(floor, int(array.nbytes))


def check_stream_size(data: bytes, where: str) -> None:
    """Raise `InputError` if the batches of an Arrow stream would grow too much when they are decompressed.

    Raise `pyarrow.ArrowException`, `ValueError` or `struct.error` if the stream is damaged.
    """
    meter = ByteMeter(where, len(data))
    for message in pa.ipc.MessageReader.open_stream(data):
        kind, header = _Table.from_root(memoryview(message.metadata)).get_union(1)
        if header is not None and kind == _DICTIONARY_BATCH:
            header = header.get_table(1)
        if header is None or kind not in (_RECORD_BATCH, _DICTIONARY_BATCH):
            continue
        meter.add(sum(length for length, _ in header.get_pairs(1)) * _CELL)
        if header.get_table(3) is not None:  # the buffers are compressed, and begin with their decompressed size
            body = memoryview(message.body)
            for offset, length in header.get_pairs(2):
                if length >= struct.calcsize("<q"):
                    meter.add(max(struct.unpack_from("<q", body, offset)[0], 0))


class _Table(NamedTuple):
    """A table of a flatbuffer, in which Arrow writes the metadata of messages."""

    data: memoryview
    """The flatbuffer."""
    offset: int
    """Where the table begins."""

    @classmethod
    def from_root(cls, data: memoryview) -> _Table:
        """Return the root table of a flatbuffer."""
        return cls(data, struct.unpack_from("<I", data)[0])

    def _find_field(self, number: int) -> int:
        """Return the offset of a field; 0 if the table lacks it."""
        fields = self.offset - struct.unpack_from("<i", self.data, self.offset)[0]
        if 4 + 2 * number >= struct.unpack_from("<H", self.data, fields)[0]:
            return 0
        field = int(struct.unpack_from("<H", self.data, fields + 4 + 2 * number)[0])
        return self.offset + field if field else 0

    def get_table(self, number: int) -> _Table | None:
        """Return the table in a field; None if the field is missing."""
        field = self._find_field(number)
        return _Table(self.data, field + struct.unpack_from("<I", self.data, field)[0]) if field else None

    def get_union(self, number: int) -> tuple[int, _Table | None]:
        """Return the kind of a union and its table; the kind is in field `number`, the table in the next one."""
        field = self._find_field(number)
        return (self.data[field] if field else 0), self.get_table(number + 1)

    def get_pairs(self, number: int) -> list[tuple[int, int]]:
        """Return a vector of pairs of 64-bit integers; empty if the field is missing."""
        field = self._find_field(number)
        if not field:
            return []
        start = field + struct.unpack_from("<I", self.data, field)[0]
        count = struct.unpack_from("<I", self.data, start)[0]
        if start + 4 + 16 * count > len(self.data):
            raise ValueError("a vector that is longer than its message")
        values = struct.unpack_from(f"<{2 * count}q", self.data, start + 4)
        return list(zip(values[::2], values[1::2], strict=True))
