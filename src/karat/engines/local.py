"""This machine: documents are read in the order of the gold standard, counted and dropped."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs
from karat.model.tables.scatter import divided, gathered, joined, scattered, size_for
from karat.spec.engine import ROW, Engine, Parts, Work, ids_of, on_all_cores
from karat.storage.spill import spill

_BLOCK = 5_000  # documents
_WAITING = 20 * _BLOCK  # replies that may wait for their document before everything is divided on disk


def _spread(gold: Parts, answers: Parts, work: Work) -> Generator[Any, None, None]:
    place = _places(gold, answers)
    blocks = (
        _side_by_side(gold, answers, place) if _waiting(place, len(gold)) <= _WAITING else _by_buckets(gold, answers)
    )
    yield from on_all_cores(blocks, work)


def _tables(parts: Parts, size: int) -> Iterator[Arrow]:
    return (table for piece in parts.pieces for table in piece.tables(size))


def _places(gold: Parts, answers: Parts) -> Longs:
    """Which document each reply is to, or -1."""
    found = pc.index_in(ids_of(answers), pa.concat_arrays(ids_of(gold).chunks))
    return np.asarray(found.fill_null(-1).to_numpy(), np.int64)


def _waiting(place: Longs, documents: int) -> int:
    """How many replies wait for their document at most, if both sides are read in their own order."""
    known = place >= 0
    read = np.cumsum(np.append(0, known))[_needed(place, documents)]
    done = np.cumsum(np.bincount(place[known], minlength=documents))
    return int((read - done).max(initial=0))


def _needed(place: Longs, documents: int) -> Longs:
    """How many replies have to be read until those to a document, and to all before it, are there."""
    needed = np.zeros(documents, np.int64)
    known = np.flatnonzero(place >= 0)
    np.maximum.at(needed, place[known], known + 1)
    return np.maximum.accumulate(needed)


def _side_by_side(gold: Parts, answers: Parts, place: Longs) -> Iterator[tuple[Arrow, Arrow]]:
    """Blocks of documents with the replies to them, which come in nearly the same order."""
    replies, needed = _tables(answers, _BLOCK), _needed(place, len(gold))
    waiting, seen = pa.table({}), 0
    for documents in _blocks(_tables(gold, _BLOCK)):
        end = int(documents.column(ROW)[-1].as_py()) + 1
        read = [waiting] if waiting.num_rows else []
        while seen < needed[end - 1]:
            read.append(next(replies))
            seen += read[-1].num_rows
        waiting = joined(read)
        if not waiting.num_rows:
            yield from divided(documents, waiting)
            continue
        now = pa.array(place[waiting.column(ROW).to_numpy()] < end)
        yield from divided(documents, waiting.filter(now))
        waiting = waiting.filter(pc.invert(now))
    for table in replies:  # to documents that the gold standard does not have
        yield pa.table({}), table


def _blocks(tables: Iterable[Arrow]) -> Iterator[Arrow]:
    """The same rows, those of small files together."""
    held: list[Arrow] = []
    for table in tables:
        if held and sum(part.num_rows for part in held) + table.num_rows > _BLOCK:
            yield joined(held)
            held = []
        held.append(table)
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
