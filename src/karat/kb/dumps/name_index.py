"""The name index of a large snapshot, sorted on disk by DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from karat.kb.dumps.query_streams import stream_query
from karat.kb.snapshot.name_index_writer import NameIndexWriter, add_sort_keys
from karat.model.tables.arrow import Arrow


def write_sorted_name_index(db: Any, scratch: Path, folder: Path, query: str) -> int:  # noqa: ANN401  # DuckDB ships no types
    """Write the name index of an SQL query for `alias`, `id` and `count` to `folder`; return the number of names.

    `db`: DuckDB connection. SQL has no function for folded names; Python writes folded names to files in `scratch`.
    DuckDB then sorts twice.
    """
    writer = NameIndexWriter(folder)
    keyed_table = _store_tables(scratch / "keyed.parquet", (add_sort_keys(table) for table in stream_query(db, query)))
    if keyed_table is None:
        return writer.close([])
    reversed_table = _store_tables(
        scratch / "ends.parquet",
        _write_rows(
            writer,
            stream_query(db, f"SELECT alias, id, count, back FROM {keyed_table} ORDER BY key, alias, count DESC, id"),
        ),
    )
    return writer.close(
        table.column(0) for table in stream_query(db, f"SELECT row FROM {reversed_table} ORDER BY back, row")
    )


def _write_rows(writer: NameIndexWriter, tables: Iterable[Arrow]) -> Iterator[Arrow]:
    """Write rows to the index while yielding tables of the row number (`row`) and reversed key (`back`) of each."""
    for table in tables:
        first = writer.n_rows
        writer.add(table)
        yield pa.table({"row": np.arange(first, writer.n_rows, dtype=np.int64), "back": table.column("back")})


def _store_tables(path: Path, tables: Iterable[Arrow]) -> str | None:
    """Write tables to a Parquet file and return the SQL expression that reads it; None, and no file, without tables."""
    writer = None
    for table in tables:
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd", compression_level=1)
        writer.write_table(table)
    if writer is None:
        return None
    writer.close()
    quoted = str(path).replace("'", "''")
    return f"read_parquet('{quoted}')"
