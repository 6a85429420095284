"""The index of names of a large pack, sorted by DuckDB on the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from karat.kb.pack.name_writer import NameWriter, keyed
from karat.knowledge.dumps.streams import stream
from karat.model.tables.arrow import Arrow


def write_index(db: Any, place: Path, folder: Path, rows: str) -> int:  # noqa: ANN401  # DuckDB ships no types
    """Write the index of a query for alias, id and count; gives the number of names.

    What people type is made of names by Python and put into files at `place`, for SQL has no such function; the rest
    is two sorts.
    """
    writer = NameWriter(folder)
    names = _stored(place / "keyed.parquet", (keyed(table) for table in stream(db, rows)))
    if names is None:
        return writer.close([])
    ends = _stored(
        place / "ends.parquet",
        _written(writer, stream(db, f"SELECT alias, id, count, back FROM {names} ORDER BY key, alias, count DESC, id")),
    )
    return writer.close(table.column(0) for table in stream(db, f"SELECT row FROM {ends} ORDER BY back, row"))


def _written(writer: NameWriter, tables: Iterable[Arrow]) -> Iterator[Arrow]:
    """Write rows to the index; gives where each stands, and its key from the end."""
    for table in tables:
        first = writer.rows
        writer.add(table)
        yield pa.table({"row": np.arange(first, writer.rows, dtype=np.int64), "back": table.column("back")})


def _stored(path: Path, tables: Iterable[Arrow]) -> str | None:
    """Tables as one file, as SQL names it; none without any rows."""
    writer = None
    for table in tables:
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd", compression_level=1)
        writer.write_table(table)
    if writer is None:
        return None
    writer.close()
    quoted = str(path).replace("'", "''")
    return f"read_parquet('{quoted}')"
