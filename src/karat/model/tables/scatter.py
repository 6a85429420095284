"""Rows divided into buckets by a hash of their document ids, serialised as bytes.

A document and all responses to it are in the same bucket, in every process.
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
from karat.model.tables.digest import hash_strings

_MAX_ROWS = 10_000  # documents per bucket, unless there are very many
_MAX_ITEMS = 250_000  # labels and predictions per block, unless a single document has more
_PER_BLOB = 64  # rows to serialise at once; fewer are mostly overhead

SCATTER_SCHEMA = pa.schema([("bucket", pa.int32()), ("gold", pa.bool_()), ("blob", pa.binary())])
"""Serialised rows of gold standard or predictions that belong to one bucket."""


class BucketPlan(NamedTuple):
    """How to divide rows into buckets that fit into memory."""

    n_buckets: int
    """The number of buckets."""
    rows_at_once: int
    """The number of rows to read and divide at a time."""


def plan_buckets(n_rows: int) -> BucketPlan:
    """Return how many buckets to divide `n_rows` rows into, and how many rows to divide at a time.

    A bucket has about as many rows as are divided at a time: 10,000, or more for very many rows, so that serialised
    batches do not become too small.
    """
    rows_per_bucket = max(_MAX_ROWS, isqrt(_PER_BLOB * n_rows))
    return BucketPlan(max(1, -(-n_rows // rows_per_bucket)), rows_per_bucket)


def scatter_rows(table: Arrow, n_buckets: int, *, gold: bool) -> Iterator[Arrow]:
    """Divide the rows of a table into buckets by id; yield one record batch of `SCATTER_SCHEMA` per non-empty bucket.

    `gold` says whether the rows are gold documents or responses.
    """
    for number, rows in _split_rows(table, _hash_ids(table) % np.uint64(n_buckets)):
        yield pa.record_batch([[number], [gold], [_serialise_table(rows)]], schema=SCATTER_SCHEMA)


def _hash_ids(table: Arrow) -> NDArray[np.uint64]:
    """Return one 64-bit hash per row, of its document id."""
    return hash_strings(table.column("id").combine_chunks().fill_null(""))


def _split_rows(table: Arrow, number: NDArray[Any]) -> Iterator[tuple[int, Arrow]]:
    """Yield each distinct value of `number`, ascending, with a table of the rows that have it, in their order.

    `number` has one value per row.
    """
    order = np.argsort(number, kind="stable")
    rows = table.take(pa.array(order)).combine_chunks()
    numbers, starts = np.unique(number[order], return_index=True)
    for value, low, high in zip(numbers.tolist(), starts, np.append(starts, len(order))[1:], strict=True):
        yield value, rows.slice(low, high - low)


def gather_blocks(batches: Iterable[Arrow]) -> Iterator[tuple[Arrow, Arrow]]:
    """Yield the gold documents and the responses of each bucket as two tables, in several blocks if it is too large.

    `batches` have the columns of `SCATTER_SCHEMA` and must be sorted by bucket.
    """
    rows = (row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True))
    for _, group in groupby(rows, key=lambda row: row[0]):
        sides: tuple[list[Arrow], list[Arrow]] = ([], [])
        for _, gold, blob in group:
            sides[0 if gold else 1].append(pa.ipc.open_stream(blob).read_all())
        yield from split_block(concatenate_tables(sides[0]), concatenate_tables(sides[1]))


def split_block(gold: Arrow, predictions: Arrow) -> Iterator[tuple[Arrow, Arrow]]:
    """Yield the documents and responses of a block as two tables, divided by id into several blocks if too large.

    A document and its responses stay together. A side without rows is a table without columns.
    """
    items = count_items(gold) + count_items(predictions)
    blocks = max(-(-items // _MAX_ITEMS), -(-max(gold.num_rows, predictions.num_rows) // _MAX_ROWS))
    if blocks <= 1:
        yield gold, predictions
        return
    # Use other bits of the hash than those that select the bucket.
    sides = [
        dict(_split_rows(table, (_hash_ids(table) >> np.uint64(32)) % np.uint64(blocks))) if table.num_rows else {}
        for table in (gold, predictions)
    ]
    for block in sorted({*sides[0], *sides[1]}):
        yield sides[0].get(block, pa.table({})), sides[1].get(block, pa.table({}))


def count_items(table: Arrow) -> int:
    """Return the number of labels and predictions in all rows of a table of documents or responses."""
    columns = [table.column(name) for name in ("labels", "predictions") if name in table.column_names]
    return sum(len(chunk.flatten()) for column in columns for chunk in column.chunks)


def concatenate_tables(tables: list[Arrow]) -> Arrow:
    """Return the rows of all tables as one table; a field that only some tables have is null elsewhere.

    Without tables, the result is a table without columns.
    """
    return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})


def _serialise_table(table: Arrow) -> bytes:
    """Return a table as a compressed Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content
