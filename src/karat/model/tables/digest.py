"""A digest of columns that depends on their content, but not on the order of rows or the file format.

Row hashes are summed, so that shuffled documents and labels have the same digest. Missing fields, empty lists and
`false` add nothing, so that it does not matter whether they are written. The digest distinguishes versions of data. It
is no protection against forgery.
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


def compute_digest(table: Arrow, name: str, items: Mentions) -> str:
    """Return the digest of a table of documents or responses, the same for any order of rows: eight hexadecimal digits.

    `items` are the flattened labels or predictions of the column `name`.
    """
    entities = np.append(hash_strings(items.names), np.array([1, 2], np.uint64))  # at -2 no link, at -1 NIL
    total = first = 0
    columns = [column for column in table.column_names if column != name]
    for batch in table.select(columns).to_batches(max_chunksize=_BATCH):
        last = first + len(batch)
        rows = _hash_struct([(column, batch.column(column)) for column in columns], len(batch))
        rows += _mix(_hash_documents(items, entities, first, last) ^ _salt(name))
        total += int(_mix(rows).sum(dtype=np.uint64))
        first = last
    return f"{total & 0xFFFFFFFF:08x}"


def hash_items(items: Mentions, rows: Longs) -> _Hashes:
    """Return one hash per label or prediction in `rows`, of all fields except the entity."""
    return _hash_fields(items.values.take(pa.array(rows)))


def _hash_documents(items: Mentions, entities: _Hashes, first: int, last: int) -> _Hashes:
    """Return for each document from `first` up to `last` (exclusive) the sum of the hashes of its items.

    `entities` has the hash of each entity code in `items`, with those of unlinked and NIL at the end.
    """
    low, high = int(items.offsets[first]), int(items.offsets[last])
    h = _hash_fields(items.values.slice(low, high - low))
    h += _mix(entities[items.entity[low:high]] ^ _salt("entity"))
    return _sum_slices(_mix(h + np.uint64(1)), items.offsets[first : last + 1] - low)


def _hash_fields(values: Arrow) -> _Hashes:
    """Return one hash per label or prediction, of all fields except `entity` and `linked`."""
    names = [values.type.field(i).name for i in range(values.type.num_fields)]
    return _hash_struct([(name, values.field(name)) for name in names if name not in ("entity", "linked")], len(values))


def _mix(h: _Hashes) -> _Hashes:
    """Return each hash with its bits scrambled, by the finaliser of SplitMix64; 0 stays 0."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


def _salt(name: str) -> np.uint64:
    """Return a fixed 64-bit number for a field name, so that equal values of different fields hash differently."""
    return np.uint64(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))


def _hash_struct(fields: list[tuple[str, Any]], length: int) -> _Hashes:
    """Return for each row the sum of the hashes of its fields, given as pairs of name and array of `length` rows."""
    total = np.zeros(length, np.uint64)
    for name, array in fields:
        if array.null_count < length:
            h = _hash_array(array)
            total += np.where(h == 0, h, _mix(h ^ _salt(name)))
    return total


def _hash_array(array: Arrow) -> _Hashes:
    """Return one hash per row of an Arrow array of any type; 0 for null, false and empty lists."""
    kind = array.type
    if pa.types.is_struct(kind):
        h = _hash_struct([(kind.field(i).name, array.field(i)) for i in range(kind.num_fields)], len(array))
    elif pa.types.is_map(kind):
        h = _hash_lists(array, pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"]), ordered=False)
    elif pa.types.is_list(kind):
        h = _hash_lists(array, array.values, ordered=True)
    elif pa.types.is_string(kind):
        h = hash_strings(array)
    elif pa.types.is_boolean(kind):
        h = array.fill_null(False).to_numpy(zero_copy_only=False).astype(np.uint64)
    else:
        wide = pa.float64() if pa.types.is_floating(kind) else pa.int64()
        numbers = array.cast(wide).fill_null(0).to_numpy(zero_copy_only=False)
        h = _mix(numbers.view(np.uint64) + np.uint64(1))
    return h if array.null_count == 0 else h * array.is_valid().to_numpy(zero_copy_only=False)


def _hash_lists(array: Arrow, values: Arrow, *, ordered: bool) -> _Hashes:
    """Return one hash per list of `array`, whose flattened values are `values`; 0 for empty lists.

    `ordered` includes the order of the values in their list.
    """
    offsets = array.offsets.to_numpy().astype(np.int64)
    h = _mix(_hash_array(values.slice(offsets[0], offsets[-1] - offsets[0])) + np.uint64(1))
    offsets -= offsets[0]
    if ordered:
        position = np.arange(len(h)) - np.repeat(offsets[:-1], np.diff(offsets))
        h = _mix(h + position.astype(np.uint64))
    return _sum_slices(h, offsets)


def _sum_slices(h: _Hashes, offsets: NDArray[np.int64]) -> _Hashes:
    """Return the sums of the hashes in the slices `h[offsets[i]:offsets[i + 1]]`, modulo 2 ** 64."""
    sums = np.zeros(len(h) + 1, np.uint64)
    np.cumsum(h, out=sums[1:])
    slice_sums: _Hashes = sums[offsets[1:]] - sums[offsets[:-1]]
    return slice_sums


def hash_strings(array: Arrow) -> _Hashes:
    """Return one 64-bit hash per string of an Arrow array, from its UTF-8 bytes; the same in every process.

    Only strings of more than 64 bytes take a Python loop.
    """
    offsets, data = split_strings(array)
    lengths = np.diff(offsets)
    long = np.flatnonzero(lengths > _SHORT)
    if not len(long):
        return _hash_short_strings(offsets, data)
    h = np.empty(len(array), np.uint64)
    short = np.flatnonzero(lengths <= _SHORT)
    h[short] = _hash_short_strings(*split_strings(array.take(pa.array(short))))
    begins, ends = offsets[long].tolist(), offsets[long + 1].tolist()
    h[long] = [zlib.crc32(data[b:e]) for b, e in zip(begins, ends, strict=True)]
    h[long] = _mix(h[long] ^ _mix(lengths[long].astype(np.uint64)))
    return h


def split_strings(array: Arrow) -> tuple[NDArray[np.int64], memoryview]:
    """Return the UTF-8 bytes of all strings of an Arrow array, preceded by their offsets: n + 1 for n strings."""
    _, offsets, data = array.buffers()
    if offsets is None:
        return np.zeros(len(array) + 1, np.int64), memoryview(b"")
    positions = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    content = memoryview(data if data is not None else b"")[positions[0] : positions[-1]]
    return positions - positions[0], content


def _hash_short_strings(offsets: NDArray[np.int64], data: memoryview) -> _Hashes:
    """Return one hash per string, from its offsets and bytes as in `split_strings`, eight bytes at a time."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    h = _mix(lengths.astype(np.uint64) + np.uint64(1))
    words = np.ndarray((len(data),), "<u8", buffer=bytes(data) + bytes(8), strides=(1,))
    for done in range(0, int(lengths.max(initial=0)), 8):
        rows = np.flatnonzero(lengths > done)
        left = np.minimum(lengths[rows] - done, 8).astype(np.uint64)
        keep = ~np.uint64(0) >> (np.uint64(64) - left * np.uint64(8))
        h[rows] = _mix(h[rows] ^ (words[starts[rows] + done] & keep))
    return h
