"""Rows divided by their ids into buckets, as bytes that anything can carry.

A document and all replies to it are in the same bucket, whoever divides them and wherever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from karat.model.tables.arrow import Arrow
from karat.model.tables.digest import string_hashes

_ROWS = 10_000  # documents in a bucket, unless there are very many
_ITEMS = 250_000  # labels and answers that are counted at once, unless a single document has more
_PER_BLOB = 64  # rows that should be carried at once: a few of them are mostly overhead

SCATTERED = pa.schema([("bucket", pa.int32()), ("gold", pa.bool_()), ("blob", pa.binary())])
"""Some rows of one side that belong into one bucket."""


class BucketSize(NamedTuple):
    """Into how many buckets rows are divided, and how many of them are divided at a time."""

    buckets: int
    rows: int


def size_for(rows: int) -> BucketSize:
    """Buckets that fit into memory several times over; of many rows, more are divided at a time."""
    each = max(_ROWS, isqrt(_PER_BLOB * rows))
    return BucketSize(max(1, -(-rows // each)), each)


def scattered(table: Arrow, buckets: int, *, gold: bool) -> Iterator[Arrow]:
    """The rows of a table, bucket by bucket, as batches of `SCATTERED`."""
    for number, rows in _split(table, _hashes(table) % np.uint64(buckets)):
        yield pa.record_batch([[number], [gold], [_written(rows)]], schema=SCATTERED)


def _hashes(table: Arrow) -> NDArray[np.uint64]:
    return string_hashes(table.column("id").combine_chunks().fill_null(""))


def _split(table: Arrow, number: NDArray[Any]) -> Iterator[tuple[int, Arrow]]:
    """The rows of each number, in their order."""
    order = np.argsort(number, kind="stable")
    rows = table.take(pa.array(order)).combine_chunks()
    present, begin = np.unique(number[order], return_index=True)
    for which, low, high in zip(present.tolist(), begin, np.append(begin, len(order))[1:], strict=True):
        yield which, rows.slice(low, high - low)


def gathered(batches: Iterable[Arrow]) -> Iterator[tuple[Arrow, Arrow]]:
    """The gold documents and the replies of each bucket, from batches in the order of buckets."""
    rows = (row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True))
    for _, group in groupby(rows, key=lambda row: row[0]):
        sides: tuple[list[Arrow], list[Arrow]] = ([], [])
        for _, gold, blob in group:
            sides[0 if gold else 1].append(_table(blob))
        yield from divided(joined(sides[0]), joined(sides[1]))


def divided(gold: Arrow, answers: Arrow) -> Iterator[tuple[Arrow, Arrow]]:
    """The same documents and replies in as many blocks as it takes for none to be large."""
    items = items_in(gold) + items_in(answers)
    blocks = max(-(-items // _ITEMS), -(-max(gold.num_rows, answers.num_rows) // _ROWS))
    if blocks <= 1:
        yield gold, answers
        return
    # Other digits of the hash than those that chose the bucket.
    sides = [
        dict(_split(table, (_hashes(table) >> np.uint64(32)) % np.uint64(blocks))) if table.num_rows else {}
        for table in (gold, answers)
    ]
    for block in sorted({*sides[0], *sides[1]}):
        yield sides[0].get(block, pa.table({})), sides[1].get(block, pa.table({}))


def items_in(table: Arrow) -> int:
    """How many labels and answers some rows have."""
    columns = [table.column(name) for name in ("labels", "answers") if name in table.column_names]
    return sum(len(chunk.flatten()) for column in columns for chunk in column.chunks)


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
