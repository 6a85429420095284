"""DuckDB: joins documents and replies by id within bounded memory, with a temporary folder for what does not fit."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from karat.errors import UsageError
from karat.model.tables.arrow import Arrow
from karat.model.tables.scatter import divided, joined
from karat.spec.engine import ROW, Engine, Parts, Work, ids_of, on_all_cores

_MEMORY = "1GB"
_ROWS = 10_000  # handed over at a time
_JOIN = "SELECT g, a FROM documents g FULL JOIN replies a ON g.id = a.id"


def _spread(gold: Parts, answers: Parts, work: Work) -> Generator[Any, None, None]:
    try:
        import duckdb
    except ImportError:
        raise UsageError("the engine duckdb needs DuckDB: pip install 'karat[duckdb]'") from None
    for parts in (gold, answers):
        ids_of(parts)  # ids given twice would be joined twice
    with TemporaryDirectory(prefix="karat-") as folder:
        config: dict[str, Any] = {
            "memory_limit": _MEMORY,
            "temp_directory": folder,
            "preserve_insertion_order": "false",
        }
        with duckdb.connect(config=config) as connection:
            connection.register("documents", _rows(gold))
            connection.register("replies", _rows(answers))
            yield from on_all_cores(_blocks(connection.sql(_JOIN).to_arrow_reader(_ROWS)), work)


def _rows(parts: Parts) -> Arrow:
    """All rows as batches of one schema, whatever the fields that each file uses."""
    nothing = parts.schema.empty_table()
    tables = (joined([nothing, table]) for piece in parts.pieces for table in piece.tables(_ROWS))
    return pa.RecordBatchReader.from_batches(parts.schema, (b for table in tables for b in table.to_batches()))


def _blocks(batches: Iterator[Arrow]) -> Iterator[tuple[Arrow, Arrow]]:
    for batch in batches:
        gold, answers = (_there(batch.column(side)) for side in ("g", "a"))
        yield from divided(gold, answers)


def _there(column: Arrow) -> Arrow:
    """The rows that one side of the join has."""
    table = pa.Table.from_struct_array(column)
    return table.filter(table.column(ROW).is_valid())


ENGINE = Engine(
    title="DuckDB",
    says="DuckDB joins documents and replies by id, within a gigabyte of memory and with its temporary folder for the "
    "rest; what it joined is counted on all cores.",
    spread=_spread,
    extra="duckdb",
)
