"""Rows divided by their ids into buckets, as bytes that anything can carry.

A document and all replies to it are in the same bucket, whoever divides them and wherever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from math import isqrt
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from karat.model.arrow import Arrow
from karat.model.digest import string_hashes

_ROWS = 10_000  # documents in a bucket, unless there are very many
_PER_BLOB = 64  # rows that should be carried at once: a few of them are mostly overhead

SCATTERED = pa.schema([("bucket", pa.int32()), ("gold", pa.bool_()), ("blob", pa.binary())])
"""Some rows of one side that belong into one bucket."""


class Size(NamedTuple):
    """Into how many buckets rows are divided, and how many of them are divided at a time."""

    buckets: int
    rows: int


def size_for(rows: int) -> Size:
    """Buckets that fit into memory several times over; of many rows, more are divided at a time."""
    each = max(_ROWS, isqrt(_PER_BLOB * rows))
    return Size(max(1, -(-rows // each)), each)


def scattered(table: Arrow, buckets: int, *, gold: bool) -> Iterator[Arrow]:
    """The rows of a table, bucket by bucket, as batches of `SCATTERED`."""
    ids = table.column("id").combine_chunks()
    bucket = (string_hashes(ids.fill_null("")) % np.uint64(buckets)).astype(np.int32)
    order = np.argsort(bucket, kind="stable")
    rows = table.take(pa.array(order)).combine_chunks()
    present, begin = np.unique(bucket[order], return_index=True)
    for number, low, high in zip(present.tolist(), begin, np.append(begin, len(order))[1:], strict=True):
        yield pa.record_batch([[number], [gold], [_written(rows.slice(low, high - low))]], schema=SCATTERED)


def gathered(batches: Iterable[Arrow]) -> Iterator[tuple[Arrow, Arrow]]:
    """The gold documents and the replies of each bucket, from batches in the order of buckets."""
    rows = (row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True))
    for _, group in groupby(rows, key=lambda row: row[0]):
        sides: tuple[list[Arrow], list[Arrow]] = ([], [])
        for _, gold, blob in group:
            sides[0 if gold else 1].append(_table(blob))
        yield joined(sides[0]), joined(sides[1])


def joined(tables: list[Arrow]) -> Arrow:
    """Tables of one side as one; without any there are no columns either. Files may differ in the fields they use."""
    return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})


def _written(table: Arrow) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _table(blob: bytes) -> Arrow:
    with pa.ipc.open_stream(blob) as reader:
        return reader.read_all()
