"""DuckDB: divides the documents within bounded memory, with its temporary folder for what does not fit."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from karat.errors import UsageError
from karat.model.arrow import Arrow
from karat.model.scatter import SCATTERED, gathered, scattered, size_for
from karat.spec.engine import Engine, Parts, Work, on_all_cores

_MEMORY = "1GB"
_BLOBS = 16  # fetched at a time


def _spread(gold: Parts, answers: Parts, work: Work) -> Generator[Any, None, None]:
    try:
        import duckdb
    except ImportError:
        raise UsageError("the engine duckdb needs DuckDB: pip install 'karat[duckdb]'") from None
    with TemporaryDirectory(prefix="karat-") as folder:
        config: dict[str, Any] = {
            "memory_limit": _MEMORY,
            "temp_directory": folder,
            "preserve_insertion_order": "false",
        }
        with duckdb.connect(config=config) as connection:
            rows = pa.RecordBatchReader.from_batches(SCATTERED, _scattered(gold, answers))
            connection.register("scattered", rows)
            found = connection.sql("SELECT bucket, gold, blob FROM scattered ORDER BY bucket")
            yield from on_all_cores(gathered(found.to_arrow_reader(_BLOBS)), work)


def _scattered(gold: Parts, answers: Parts) -> Iterator[Arrow]:
    size = size_for(max(len(gold), len(answers)))
    for parts in (gold, answers):
        for piece in parts.pieces:
            for table in piece.tables(size.rows):
                yield from scattered(table, size.buckets, gold=parts is gold)


ENGINE = Engine(
    title="DuckDB",
    says="DuckDB sorts the documents into buckets by id, within bounded memory and with its temporary folder for the "
    "rest; the buckets are counted on all cores.",
    spread=_spread,
    extra="duckdb",
)
