"""The specification of an engine, the constant `ENGINE` of a file in `karat.plugins.engines`, and partitioned data.

A block is a part of the documents with the responses to them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeAlias, runtime_checkable

import msgspec
import pyarrow as pa

from karat.model.tables import checks
from karat.model.tables.arrow import Arrow

_IDS_PER_TABLE = 100_000

ROW = "row"
"""The column with the row number of a document or response in the whole data, from 0."""

BlockFunction: TypeAlias = Callable[[Arrow, Arrow], Any]
"""A function of the gold documents of a block and all responses to them; it and its result can be pickled."""


class Partition(Protocol):
    """A picklable part of partitioned documents or responses, read where it is needed."""

    def tables(self, size: int, columns: Sequence[str] | None = None) -> Iterator[Arrow]:
        """Yield the rows of the partition in order, in Arrow tables of up to `size` rows.

        The tables have the column `ROW` and `columns`, or all columns for None.
        """


@runtime_checkable
class PartitionedData(Protocol):
    """A corpus or run in ordered partitions, which need not fit into memory."""

    @property
    def name(self) -> str:
        """The name in reports."""

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata of the whole source."""

    @property
    def skipped(self) -> Mapping[str, int]:
        """Counts of what the reader skipped or repaired, by description."""

    @property
    def partitions(self) -> Sequence[Partition]:
        """All partitions; together they contain every row once."""

    @property
    def schema(self) -> Arrow:
        """The Arrow schema with all columns and fields that occur in any row, and `ROW`."""

    def __len__(self) -> int: ...

    def locate_row(self, row: int) -> str:
        """Return the location of a row in its source, for messages."""

    def with_text(self) -> PartitionedData:
        """Return the same data with document texts instead of their lengths and fingerprints."""


Distribute: TypeAlias = Callable[[PartitionedData, PartitionedData, BlockFunction], Generator[Any, None, None]]
"""A function of gold standard, predictions and block function that yields the result for each block in any order."""


class Engine(msgspec.Struct, frozen=True):
    """A way to divide documents into blocks and to process the blocks."""

    title: str
    """The name in lists."""
    description: str
    """One sentence on where blocks are processed."""
    distribute: Distribute
    """Apply a function to each block of documents.

    Every document is in one block, with all responses to it. Responses to unknown documents may be in any block.
    Documents with the same id are in the same block, unless the engine rejects duplicate ids itself.
    """
    extra: str | None = None
    """The extra of the package that must be installed."""


def read_ids(data: PartitionedData) -> Arrow:
    """Read all partitions and return the document ids of all rows in order, as a chunked Arrow array.

    Raise `InputError` if an id is missing or occurs twice.
    """
    tables = (table for partition in data.partitions for table in partition.tables(_IDS_PER_TABLE, ["id"]))
    ids = pa.chunked_array([chunk for table in tables for chunk in table.column("id").chunks], pa.string())
    checks.raise_first(checks.check_ids(ids), data.locate_row)
    return ids


def run_on_all_cores(blocks: Iterable[tuple[Arrow, Arrow]], work: BlockFunction) -> Iterator[Any]:
    """Yield `work(gold, predictions)` for each block in order, computed in as many threads as the machine has cores.

    Blocks are read as they are needed, so that only about as many as there are cores are in memory at once.
    """
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(max_workers=cores) as pool:
        running: deque[Future[Any]] = deque()
        for block in blocks:
            running.append(pool.submit(work, *block))
            if len(running) > cores:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
