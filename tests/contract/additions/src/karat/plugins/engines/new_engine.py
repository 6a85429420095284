"""A made-up engine: one block."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from karat.model.spec.engine import BlockFunction, Engine, PartitionedData, read_ids
from karat.model.tables.arrow import Arrow
from karat.model.tables.scatter import concatenate_tables

_ROWS = 10_000


def _read_all(data: PartitionedData) -> Arrow:
    """Return all rows of `data` as one table; duplicate ids raise `InputError`."""
    read_ids(data)
    return concatenate_tables([table for part in data.partitions for table in part.tables(_ROWS)])


def _distribute(
    gold: PartitionedData, predictions: PartitionedData, evaluate_block: BlockFunction
) -> Generator[Any, None, None]:
    """Yield the result of `evaluate_block` for `gold` and `predictions` as a single block."""
    yield evaluate_block(_read_all(gold), _read_all(predictions))


ENGINE = Engine(title="One block", description="Reads everything into one block, for a test.", distribute=_distribute)
