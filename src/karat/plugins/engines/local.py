"""Local engine: reads documents in the order of the gold standard and evaluates them block by block."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.spec.engine import ROW, BlockFunction, Engine, PartitionedData, read_ids, run_on_all_cores
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs
from karat.model.tables.scatter import concatenate_tables, gather_blocks, plan_buckets, scatter_rows, split_block
from karat.storage.spill_files import open_spill

_BLOCK_DOCUMENTS = 5_000  # documents per block
_MAX_WAITING = (
    20 * _BLOCK_DOCUMENTS
)  # responses held in memory until their document is read; with more, both sides are divided on disk


def _distribute(
    gold: PartitionedData, predictions: PartitionedData, evaluate_block: BlockFunction
) -> Generator[Any, None, None]:
    """Yield the result of `evaluate_block` for each block of documents and all responses to them, from all cores.

    Both sides are read in file order, or divided by id on disk if too many responses would have to wait.
    """
    index = pc.index_in(read_ids(predictions), pa.concat_arrays(read_ids(gold).chunks))
    document_index = np.asarray(index.fill_null(-1).to_numpy(), np.int64)  # -1: the response has no document
    blocks = (
        _align_in_order(gold, predictions, document_index)
        if _max_waiting(document_index, len(gold)) <= _MAX_WAITING
        else _align_by_buckets(gold, predictions)
    )
    yield from run_on_all_cores(blocks, evaluate_block)


def _read_tables(parts: PartitionedData, size: int) -> Iterator[Arrow]:
    """Yield all rows of a corpus or run in order, in tables of up to `size` rows."""
    return (table for partition in parts.partitions for table in partition.tables(size))


def _max_waiting(document_index: Longs, n_documents: int) -> int:
    """Return the maximum number of responses that wait for their document if both sides are read in file order.

    `document_index` has the document of each response, or -1.
    """
    is_known = document_index >= 0
    n_read = np.cumsum(np.append(0, is_known))[_count_needed(document_index, n_documents)]
    n_done = np.cumsum(np.bincount(document_index[is_known], minlength=n_documents))
    return int((n_read - n_done).max(initial=0))


def _count_needed(document_index: Longs, n_documents: int) -> Longs:
    """Return for each document how many responses must be read, in file order, to have all up to this document's.

    `document_index` has the document of each response, or -1; responses with -1 are not waited for.
    """
    needed = np.zeros(n_documents, np.int64)
    rows = np.flatnonzero(document_index >= 0)
    np.maximum.at(needed, document_index[rows], rows + 1)
    return np.maximum.accumulate(needed)


def _align_in_order(
    gold: PartitionedData, predictions: PartitionedData, document_index: Longs
) -> Iterator[tuple[Arrow, Arrow]]:
    """Yield blocks of documents and all responses to them, as two tables each, read in the order of the gold standard.

    Responses that are read before their document wait in memory, so both sides should be in nearly the same order. At
    the end, responses to unknown documents follow.
    """
    responses, needed = _read_tables(predictions, _BLOCK_DOCUMENTS), _count_needed(document_index, len(gold))
    waiting, n_seen = pa.table({}), 0
    for documents in _merge_small_tables(_read_tables(gold, _BLOCK_DOCUMENTS)):
        end = int(documents.column(ROW)[-1].as_py()) + 1
        read = [waiting] if waiting.num_rows else []
        while n_seen < needed[end - 1]:
            read.append(next(responses))
            n_seen += read[-1].num_rows
        waiting = concatenate_tables(read)
        if not waiting.num_rows:
            yield from split_block(documents, waiting)
            continue
        is_ready = pa.array(document_index[waiting.column(ROW).to_numpy()] < end)
        yield from split_block(documents, waiting.filter(is_ready))
        waiting = waiting.filter(pc.invert(is_ready))
    for table in responses:  # of documents that the gold standard does not have
        yield pa.table({}), table


def _merge_small_tables(tables: Iterable[Arrow]) -> Iterator[Arrow]:
    """Yield the same rows in order, with neighbouring tables merged up to the size of a block."""
    pending: list[Arrow] = []
    for table in tables:
        if pending and sum(part.num_rows for part in pending) + table.num_rows > _BLOCK_DOCUMENTS:
            yield concatenate_tables(pending)
            pending = []
        pending.append(table)
    if pending:
        yield concatenate_tables(pending)


def _align_by_buckets(gold: PartitionedData, predictions: PartitionedData) -> Iterator[tuple[Arrow, Arrow]]:
    """Yield blocks of documents and all responses to them, as two tables each, in any order.

    Both sides are first divided by id into buckets on disk.
    """
    plan = plan_buckets(max(len(gold), len(predictions)))
    with open_spill() as spill:
        for side, parts in ((0, gold), (1, predictions)):
            for table in _read_tables(parts, plan.rows_at_once):
                for batch in scatter_rows(table, plan.n_buckets, gold=side == 0):
                    spill.append(2 * batch.column("bucket")[0].as_py() + side, batch.column("blob")[0].as_py())
        for bucket in range(plan.n_buckets):
            chunks = [
                (bucket, gold, blob) for gold in (True, False) for blob in spill.pop_chunks(2 * bucket + (not gold))
            ]
            if chunks:
                yield from gather_blocks(
                    [pa.record_batch([list(column) for column in zip(*chunks, strict=True)], _CHUNK_COLUMNS)]
                )


_CHUNK_COLUMNS = ["bucket", "gold", "blob"]

ENGINE = Engine(
    title="This machine",
    description="Reads documents in the order of the gold standard and evaluates them on all cores, block by block. "
    "If the predictions are in a very different order, both sides are first divided by id in a temporary "
    "folder.",
    distribute=_distribute,
)
