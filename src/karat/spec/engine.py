"""What a file in `karat.engines` holds, and what engines divide."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeAlias, runtime_checkable

import msgspec
import pyarrow as pa

from karat.model.tables import check
from karat.model.tables.arrow import Arrow

_IDS = 100_000

ROW = "row"
"""The column that says which row of the whole, from 0 on, a document or reply is."""

Work: TypeAlias = Callable[[Arrow, Arrow], Any]
"""What is done with the gold documents of a block and all replies to them. It and its outcome can be pickled."""


class Piece(Protocol):
    """Some documents or some replies, to be read wherever they are needed; a piece can be pickled."""

    def tables(self, size: int, only: Sequence[str] | None = None) -> Iterator[Arrow]:
        """The rows in order, at most `size` at a time: some columns or all of them, and `ROW`."""


@runtime_checkable
class Parts(Protocol):
    """A corpus or a run that need not fit into memory: pieces, in order."""

    @property
    def name(self) -> str:
        """How reports call it."""

    @property
    def about(self) -> Mapping[str, str]:
        """What the source says about the whole."""

    @property
    def skipped(self) -> Mapping[str, int]:
        """What the reader left out or mended, in words."""

    @property
    def pieces(self) -> Sequence[Piece]:
        """All pieces; together they have every row once."""

    @property
    def schema(self) -> Arrow:
        """The columns and fields that some row may have a value in, with `ROW`."""

    def __len__(self) -> int: ...

    def where(self, row: int) -> str:
        """Where a row came from."""

    def with_text(self) -> Parts:
        """The same with the texts of documents, of which otherwise only length and fingerprint are read."""


Spread: TypeAlias = Callable[[Parts, Parts, Work], Generator[Any, None, None]]


class Engine(msgspec.Struct, frozen=True):
    """How documents are divided into blocks, and where the work on each block is done.

    `spread` takes the gold standard, the answers and the work. Every document is in one block, together with all
    replies to it; replies to documents that the gold standard does not have are in any. Documents of the same id are
    in the same block, unless the engine refuses them itself. What the work gives for each block comes in any order.
    `extra` is the extra of the package that has to be installed.
    """

    title: str
    says: str
    spread: Spread
    extra: str | None = None


def ids_of(parts: Parts) -> Arrow:
    """The ids of all documents or replies, in order and each once; `InputError` if one is given twice."""
    tables = (table for piece in parts.pieces for table in piece.tables(_IDS, ["id"]))
    ids = pa.chunked_array([chunk for table in tables for chunk in table.column("id").chunks], pa.string())
    check.refuse(check.identified(ids), parts.where)
    return ids


def on_all_cores(blocks: Iterable[tuple[Arrow, Arrow]], work: Work) -> Iterator[Any]:
    """The work on all blocks, in their order and a few at a time, so that only these are in memory."""
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(max_workers=cores) as pool:
        running: deque[Future[Any]] = deque()
        for block in blocks:
            running.append(pool.submit(work, *block))
            if len(running) > cores:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
