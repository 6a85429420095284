"""A fingerprint of columns that depends on what they say, not on the order or the file they came in.

Rows are hashed one by one and summed, so that shuffled documents and shuffled labels have the same digest;
absent fields, empty lists and `false` add nothing, so that it does not matter whether they were written out.
It tells versions of data apart; it is no protection against forgery.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs, Mentions

_Hashes: TypeAlias = NDArray[np.uint64]

_BATCH = 5_000  # rows at a time: temporary arrays stay small
_SHORT = 64  # bytes; longer strings are worth a call each


def digest(table: Arrow, name: str, items: Mentions) -> str:
    """The fingerprint of a table's rows, in any order, as eight hexadecimal digits.

    `items` are the flattened labels or answers that stand in the column `name`.
    """
    entities = np.append(string_hashes(items.names), np.array([1, 2], np.uint64))  # at -2 no link, at -1 NIL
    total = first = 0
    columns = [column for column in table.column_names if column != name]
    for batch in table.select(columns).to_batches(max_chunksize=_BATCH):
        last = first + len(batch)
        rows = _struct([(column, batch.column(column)) for column in columns], len(batch))
        rows += _mix(_items(items, entities, first, last) ^ _salt(name))
        total += int(_mix(rows).sum(dtype=np.uint64))
        first = last
    return f"{total & 0xFFFFFFFF:08x}"


def fingerprints(items: Mentions, rows: Longs) -> _Hashes:
    """One hash for each of some labels or answers, of all they say but their entity."""
    return _fields(items.values.take(pa.array(rows)))


def _items(items: Mentions, entities: _Hashes, first: int, last: int) -> _Hashes:
    """For each document the sum over its labels or answers; entities are hashed by name, once each."""
    low, high = int(items.offsets[first]), int(items.offsets[last])
    h = _fields(items.values.slice(low, high - low))
    h += _mix(entities[items.entity[low:high]] ^ _salt("entity"))
    return _sums(_mix(h + np.uint64(1)), items.offsets[first : last + 1] - low)


def _fields(values: Arrow) -> _Hashes:
    names = [values.type.field(i).name for i in range(values.type.num_fields)]
    return _struct([(name, values.field(name)) for name in names if name not in ("entity", "linked")], len(values))


def _mix(h: _Hashes) -> _Hashes:
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


def _salt(name: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))


def _struct(fields: list[tuple[str, Any]], length: int) -> _Hashes:
    total = np.zeros(length, np.uint64)
    for name, array in fields:
        if array.null_count < length:
            h = _hash(array)
            total += np.where(h == 0, h, _mix(h ^ _salt(name)))
    return total


def _hash(array: Arrow, *, ordered: bool = True) -> _Hashes:
    kind = array.type
    if pa.types.is_struct(kind):
        h = _struct([(kind.field(i).name, array.field(i)) for i in range(kind.num_fields)], len(array))
    elif pa.types.is_map(kind):
        h = _lists(array, pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"]), ordered=False)
    elif pa.types.is_list(kind):
        h = _lists(array, array.values, ordered=ordered)
    elif pa.types.is_string(kind):
        h = string_hashes(array)
    elif pa.types.is_boolean(kind):
        h = array.fill_null(False).to_numpy(zero_copy_only=False).astype(np.uint64)
    else:
        wide = pa.float64() if pa.types.is_floating(kind) else pa.int64()
        numbers = array.cast(wide).fill_null(0).to_numpy(zero_copy_only=False)
        h = _mix(numbers.view(np.uint64) + np.uint64(1))
    return h if array.null_count == 0 else h * array.is_valid().to_numpy(zero_copy_only=False)


def _lists(array: Arrow, values: Arrow, *, ordered: bool) -> _Hashes:
    offsets = array.offsets.to_numpy().astype(np.int64)
    h = _mix(_hash(values.slice(offsets[0], offsets[-1] - offsets[0])) + np.uint64(1))
    offsets -= offsets[0]
    if ordered:
        place = np.arange(len(h)) - np.repeat(offsets[:-1], np.diff(offsets))
        h = _mix(h + place.astype(np.uint64))
    return _sums(h, offsets)


def _sums(h: _Hashes, offsets: NDArray[np.int64]) -> _Hashes:
    sums = np.zeros(len(h) + 1, np.uint64)
    np.cumsum(h, out=sums[1:])
    between: _Hashes = sums[offsets[1:]] - sums[offsets[:-1]]
    return between


def string_hashes(array: Arrow) -> _Hashes:
    """One hash per string; without a Python loop where strings are short."""
    offsets, data = string_parts(array)
    lengths = np.diff(offsets)
    long = np.flatnonzero(lengths > _SHORT)
    if not len(long):
        return _short_strings(offsets, data)
    h = np.empty(len(array), np.uint64)
    short = np.flatnonzero(lengths <= _SHORT)
    h[short] = _short_strings(*string_parts(array.take(pa.array(short))))
    begins, ends = offsets[long].tolist(), offsets[long + 1].tolist()
    h[long] = [zlib.crc32(data[b:e]) for b, e in zip(begins, ends, strict=True)]
    h[long] = _mix(h[long] ^ _mix(lengths[long].astype(np.uint64)))
    return h


def string_parts(array: Arrow) -> tuple[NDArray[np.int64], memoryview]:
    """Where each string begins and ends, and the bytes."""
    _, offsets, data = array.buffers()
    if offsets is None:
        return np.zeros(len(array) + 1, np.int64), memoryview(b"")
    places = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    own = memoryview(data if data is not None else b"")[places[0] : places[-1]]
    return places - places[0], own


def _short_strings(offsets: NDArray[np.int64], data: memoryview) -> _Hashes:
    """Eight bytes of every string at a time, read as unaligned words."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    h = _mix(lengths.astype(np.uint64) + np.uint64(1))
    words = np.ndarray((len(data),), "<u8", buffer=bytes(data) + bytes(8), strides=(1,))
    for done in range(0, int(lengths.max(initial=0)), 8):
        rows = np.flatnonzero(lengths > done)
        left = np.minimum(lengths[rows] - done, 8).astype(np.uint64)
        keep = ~np.uint64(0) >> (np.uint64(64) - left * np.uint64(8))
        h[rows] = _mix(h[rows] ^ (words[starts[rows] + done] & keep))
    return h
