"""Results and verdicts into files."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from karat.errors import UsageError
from karat.model.result import Result
from karat.storage.files import writing


def save_results(results: Sequence[Result], path: str) -> None:
    """One result as an object; several as one object per line."""
    with writing(path) as file:
        for result in results:
            file.write(result.to_json() + b"\n")


def save_verdicts(results: Sequence[Result], path: str) -> None:
    """Every case of every result, with the run it belongs to; Parquet or JSONL, as the suffix says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    bare = path.removesuffix(".gz").removesuffix(".zst")
    if not (bare.endswith((".parquet", ".jsonl")) or path == "-"):
        raise UsageError(f"{path}: verdicts are written as .parquet or .jsonl. Choose one of the two.")
    tables = [r.verdicts.add_column(0, "run", pa.array([r.run] * r.verdicts.num_rows, pa.string())) for r in results]
    table = pa.concat_tables(tables).replace_schema_metadata({"signature": str(results[0].signature)})
    with writing(path) as file:
        if bare.endswith(".parquet"):
            pq.write_table(table, file, compression="zstd")
            return
        encode = msgspec.json.Encoder().encode
        for batch in table.to_batches(max_chunksize=10_000):
            for row in batch.to_pylist():
                file.write(encode({name: value for name, value in row.items() if value is not None}) + b"\n")
