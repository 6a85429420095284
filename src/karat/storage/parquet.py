"""Sorted tables as Parquet files: written block by block, and read only where a key may stand."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import InputError
from karat.model.tables.arrow import Arrow
from karat.storage.files import readable

BLOCK = 1 << 16
"""Rows of a block, which are read together."""

_KEPT = 32  # blocks that a table keeps, so that its memory is bounded


def write_sorted(path: Path, schema: Arrow, tables: Iterable[Arrow], *, level: int = 19) -> int:
    """Write tables, of which the rows are in order, as one file; returns the number of rows.

    The highest level of compression takes a hundred times as long as the lowest.
    """
    import pyarrow.parquet as pq

    rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=level, store_schema=False) as writer:
        for table in tables:
            if table.num_rows:
                writer.write_table(table, row_group_size=BLOCK)
                rows += table.num_rows
    return rows


class SortedTable:
    """A Parquet file that is sorted by one of its columns, the `key`. Nothing is read before it is asked for."""

    def __init__(self, path: Path, key: str) -> None:
        self._path, self._key = path, key
        self._blocks: OrderedDict[tuple[int, tuple[str, ...]], Arrow] = OrderedDict()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self._file.metadata.num_rows)

    @property
    def first(self) -> str | None:
        """The first key, None where there are no rows."""
        return self._bounds[0][0] if self._bounds else None

    def whole(self, *columns: str) -> Arrow:
        """All rows at once."""
        return self._file.read(columns=list(columns) or None)

    def blocks(self, *columns: str) -> Iterator[Arrow]:
        """All rows, block by block."""
        for number in range(self._file.metadata.num_row_groups):
            yield self._file.read_row_group(number, columns=list(columns) or None)

    @property
    def fingerprint(self) -> str:
        """What tells the rows apart from others, whichever version of Parquet wrote them."""
        found = hashlib.sha256()
        for block in self.blocks():
            for column in block.columns:
                for data in _content(column.combine_chunks()):
                    found.update(data)
        return found.hexdigest()

    def matching(self, keys: Sequence[str] | Arrow, *columns: str) -> Arrow:
        """The rows with one of some keys, in the order of the file: the key, then the columns."""
        wanted = pc.unique(strings(keys)).sort()
        names = (self._key, *columns)
        found = []
        for number, _, part in self._parts(wanted):
            block = self._block(number, names)
            found.append(block.filter(pc.is_in(block.column(self._key), value_set=part)))
        return pa.concat_tables(found) if found else self._file.schema_arrow.empty_table().select(list(names))

    def aligned(self, keys: Sequence[str] | Arrow, column: str) -> Arrow:
        """What a column says in the row of each key, null where there is no such row; keys stand once in the file."""
        return self.joined(keys, column)[0]

    def joined(self, keys: Sequence[str] | Arrow, *columns: str) -> list[Arrow]:
        """The same of several columns: one join of the keys with the table, however many there are."""
        given, names = strings(keys), (self._key, *columns)
        if len(given) > self.rows:  # to sort the keys would take longer than to look at all rows
            every = self.whole(*names)
            places = pc.index_in(given, value_set=every.column(0).combine_chunks())
            return [column.combine_chunks().take(places) for column in every.columns[1:]]
        order = pc.sort_indices(given)
        wanted = given.take(order)
        kinds = {column: self._file.schema_arrow.field(column).type for column in columns}
        pieces: dict[str, list[Arrow]] = {column: [] for column in columns}
        done = 0
        for number, at, part in self._parts(wanted):
            block = self._block(number, names)
            places = pc.index_in(part, value_set=block.column(self._key))
            for column, kind in kinds.items():
                pieces[column].append(pa.nulls(at - done, kind))
                pieces[column].append(block.column(column).combine_chunks().take(places))
            done = at + len(part)
        back = np.empty(len(given), np.int64)
        back[order.to_numpy()] = np.arange(len(given))
        for column, kind in kinds.items():
            pieces[column].append(pa.nulls(len(wanted) - done, kind))
        return [pa.chunked_array(piece).combine_chunks().take(pa.array(back)) for piece in pieces.values()]

    def _parts(self, wanted: Arrow) -> Iterator[tuple[int, int, Arrow]]:
        """The blocks that may hold some of the keys, which are sorted: where these begin, and the keys."""
        for number, (low, high) in enumerate(self._bounds):
            first = _position(wanted, low)
            last = _position(wanted, high, after=True)
            if first < last:
                yield number, first, wanted.slice(first, last - first)

    def _block(self, number: int, columns: tuple[str, ...]) -> Arrow:
        if (number, columns) not in self._blocks:
            self._blocks[number, columns] = self._file.read_row_group(number, columns=list(columns))
            if len(self._blocks) > _KEPT:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end((number, columns))
        return self._blocks[number, columns]

    @cached_property
    def _bounds(self) -> list[tuple[str, str]]:
        """The first and the last key of each block."""
        about, at = self._file.metadata, self._file.schema_arrow.get_field_index(self._key)
        bounds = []
        for number in range(about.num_row_groups):
            found = about.row_group(number).column(at).statistics
            if found is None or not found.has_min_max:
                keys = self._file.read_row_group(number, columns=[self._key]).column(0)
                bounds.append((keys[0].as_py(), keys[len(keys) - 1].as_py()))
            else:
                bounds.append((str(found.min), str(found.max)))
        return bounds

    @cached_property
    def _file(self) -> Any:  # noqa: ANN401  # pyarrow ships no types
        import pyarrow.parquet as pq

        try:
            return pq.ParquetFile(self._path, memory_map=True)
        except (OSError, pa.ArrowInvalid) as problem:
            raise InputError(
                readable(str(self._path)),
                found=f"a damaged table ({str(problem).splitlines()[0]})",
                expected="a Parquet file",
                remedy="Build or copy the pack again",
            ) from None


def _content(values: Arrow) -> Iterator[bytes]:
    """The cells of a column as bytes: which are empty, how long each is, and what they hold."""
    yield values.is_null().to_numpy(zero_copy_only=False).tobytes()
    if pa.types.is_list(values.type):
        yield pc.fill_null(values.value_lengths(), 0).to_numpy(zero_copy_only=False).tobytes()
        yield from _content(values.flatten())
    elif pa.types.is_string(values.type):
        yield pc.fill_null(pc.binary_length(values), 0).to_numpy(zero_copy_only=False).tobytes()
        yield "".join(filter(None, values.to_pylist())).encode()
    else:
        yield pc.fill_null(values, 0).to_numpy(zero_copy_only=False).tobytes()


def strings(keys: Sequence[str] | Arrow) -> Arrow:
    """Strings as one array of Arrow, whatever they come as."""
    if isinstance(keys, pa.ChunkedArray):
        return keys.combine_chunks()
    return keys if isinstance(keys, pa.Array) else pa.array(keys, pa.string())


def _position(keys: Arrow, key: str, *, after: bool = False) -> int:
    """Where a key stands, or would stand, among sorted ones."""
    if after:
        key += "\0"  # the least string that comes after it
    return bisect_left(_Cells(keys), key)


class _Cells(Sequence[str]):
    """The strings of an Arrow array, one by one."""

    def __init__(self, values: Arrow) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401  # a number is all that is asked for
        return self._values[place].as_py()
