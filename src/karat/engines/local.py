"""This machine: documents are read in the order of the gold standard, counted and dropped."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.arrow import Arrow
from karat.model.columns import Longs
from karat.model.scatter import gathered, joined, scattered, size_for
from karat.spec.engine import ROW, Engine, Parts, Work, on_all_cores
from karat.storage.spill import spill

_BLOCK = 5_000  # documents
_WAITING = 20 * _BLOCK  # replies that may wait for their document before everything is divided on disk
_IDS = 100_000


def _spread(gold: Parts, answers: Parts, work: Work) -> Generator[Any, None, None]:
    place = _places(gold, answers)
    blocks = _side_by_side(gold, answers, place) if _waiting(place) <= _WAITING else _by_buckets(gold, answers)
    yield from on_all_cores(blocks, work)


def _tables(parts: Parts, size: int) -> Iterator[Arrow]:
    return (table for piece in parts.pieces for table in piece.tables(size))


def _ids(parts: Parts) -> Arrow:
    tables = (table for piece in parts.pieces for table in piece.tables(_IDS, ["id"]))
    return pa.chunked_array([chunk for table in tables for chunk in table.column("id").chunks], pa.string())


def _places(gold: Parts, answers: Parts) -> Longs:
    """Which document each reply is to, or -1."""
    found = pc.index_in(_ids(answers), pa.concat_arrays(_ids(gold).chunks))
    return np.asarray(found.fill_null(-1).to_numpy(), np.int64)


def _waiting(place: Longs) -> int:
    """How many replies wait at most, if both sides are read in their own order."""
    known = np.flatnonzero(place >= 0)
    block = place[known] // _BLOCK
    last = np.zeros(int(block.max(initial=-1)) + 2, np.int64)
    np.maximum.at(last, block, known)
    read = np.searchsorted(np.maximum.accumulate(last[:-1]), known)  # the block for which each reply is read
    change = np.bincount(read, minlength=len(last)) - np.bincount(np.maximum(block, read), minlength=len(last))
    return int(np.cumsum(change).max(initial=0))


def _side_by_side(gold: Parts, answers: Parts, place: Longs) -> Iterator[tuple[Arrow, Arrow]]:
    """Blocks of documents with the replies to them, which come in nearly the same order."""
    replies = _tables(answers, _BLOCK)
    last = np.zeros(-(-len(gold) // _BLOCK), np.int64)
    known = np.flatnonzero(place >= 0)
    np.maximum.at(last, place[known] // _BLOCK, known + 1)
    waiting, seen = pa.table({}), 0
    for documents in _blocks(_tables(gold, _BLOCK)):
        end = int(documents.column(ROW)[-1].as_py()) + 1
        wanted = int(last[(end - 1) // _BLOCK])
        read = [waiting] if waiting.num_rows else []
        while seen < wanted:
            read.append(next(replies))
            seen += read[-1].num_rows
        waiting = joined(read)
        if not waiting.num_columns:
            yield documents, waiting
            continue
        now = place[waiting.column(ROW).to_numpy()] < end
        yield documents, waiting.filter(pa.array(now))
        waiting = waiting.filter(pa.array(~now))
    for table in replies:  # to documents that the gold standard does not have
        yield pa.table({}), table


def _blocks(tables: Iterable[Arrow]) -> Iterator[Arrow]:
    """The same rows in blocks of equal size, whatever the files they come from."""
    held: list[Arrow] = []
    count = 0
    for table in tables:
        while count + table.num_rows >= _BLOCK:
            rest = _BLOCK - count
            yield joined([*held, table.slice(0, rest)])
            table, held, count = table.slice(rest), [], 0
        if table.num_rows:
            held.append(table)
            count += table.num_rows
    if held:
        yield joined(held)


def _by_buckets(gold: Parts, answers: Parts) -> Iterator[tuple[Arrow, Arrow]]:
    """Blocks of documents in another order: both sides are divided by id on disk first."""
    size = size_for(max(len(gold), len(answers)))
    with spill() as place:
        for side, parts in ((0, gold), (1, answers)):
            for table in _tables(parts, size.rows):
                for batch in scattered(table, size.buckets, gold=side == 0):
                    place.put(2 * batch.column("bucket")[0].as_py() + side, batch.column("blob")[0].as_py())
        for bucket in range(size.buckets):
            chunks = [(bucket, gold, blob) for gold in (True, False) for blob in place.take(2 * bucket + (not gold))]
            if chunks:
                yield from gathered([pa.record_batch([list(column) for column in zip(*chunks, strict=True)], _NAMES)])


_NAMES = ["bucket", "gold", "blob"]

ENGINE = Engine(
    title="This machine",
    says="Documents are read in the order of the gold standard, counted and dropped, on all cores. Where the answers "
    "come in quite another order, both sides are first divided by id in a temporary folder.",
    spread=_spread,
)
