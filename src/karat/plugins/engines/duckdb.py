"""DuckDB engine: joins documents and responses by id with bounded memory and a temporary folder.

A block is a part of the documents with the responses to them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from karat.model.errors import UsageError
from karat.model.spec.engine import ROW, BlockFunction, Engine, PartitionedData, read_ids, run_on_all_cores
from karat.model.tables.arrow import Arrow
from karat.model.tables.scatter import concatenate_tables, split_block

_MEMORY_LIMIT = "1GB"
_BATCH_ROWS = 10_000  # per batch
_JOIN = "SELECT g, a FROM documents g FULL JOIN responses a ON g.id = a.id"


def _distribute(
    gold: PartitionedData, predictions: PartitionedData, evaluate_block: BlockFunction
) -> Generator[Any, None, None]:
    """Yield the result of `evaluate_block` for each block of documents and all responses to them, in any order.

    DuckDB joins both sides by id. Raise `UsageError` if DuckDB is not installed, and `InputError` on duplicate ids.
    """
    try:
        import duckdb
    except ImportError:
        raise UsageError("the engine duckdb needs DuckDB: pip install 'karat[duckdb]'") from None
    for parts in (gold, predictions):
        read_ids(parts)  # check for duplicate ids, which would be joined twice
    with TemporaryDirectory(prefix="karat-") as folder:
        config: dict[str, Any] = {
            "memory_limit": _MEMORY_LIMIT,
            "temp_directory": folder,
            "preserve_insertion_order": "false",
        }
        with duckdb.connect(config=config) as connection:
            connection.register("documents", _read_rows(gold))
            connection.register("responses", _read_rows(predictions))
            yield from run_on_all_cores(
                _split_batches(connection.sql(_JOIN).to_arrow_reader(_BATCH_ROWS)), evaluate_block
            )


def _read_rows(parts: PartitionedData) -> Arrow:
    """Return an Arrow reader over all rows, in batches of one schema even if files have different fields."""
    empty_table = parts.schema.empty_table()
    tables = (
        concatenate_tables([empty_table, table])
        for partition in parts.partitions
        for table in partition.tables(_BATCH_ROWS)
    )
    return pa.RecordBatchReader.from_batches(parts.schema, (batch for table in tables for batch in table.to_batches()))


def _split_batches(batches: Iterator[Arrow]) -> Iterator[tuple[Arrow, Arrow]]:
    """Yield blocks of gold documents and responses, as two tables each, from the record batches of the join."""
    for batch in batches:
        gold, predictions = (_select_side(batch.column(side)) for side in ("g", "a"))
        yield from split_block(gold, predictions)


def _select_side(column: Arrow) -> Arrow:
    """Return the rows of one side of a full join, a struct column, as a table without rows that only the other has."""
    table = pa.Table.from_struct_array(column)
    return table.filter(table.column(ROW).is_valid())


ENGINE = Engine(
    title="DuckDB",
    description="DuckDB joins documents and responses by id, with one gigabyte of memory and a temporary folder for "
    "the rest. All cores of this machine evaluate the joined blocks.",
    distribute=_distribute,
    extra="duckdb",
)
