"""Results and verdicts into files."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from karat.errors import UsageError
from karat.model.result import Result
from karat.spec.report import Report
from karat.storage.files import writing


def save_results(results: Sequence[Result], path: str) -> None:
    """One result as an object; several as one object per line."""
    with writing(path) as file:
        for result in results:
            file.write(result.to_json() + b"\n")


def save_layout(result: Result, layout: Report, path: str | None, cases_path: str | None) -> None:
    """One result, and every case of it, in the layout of a peer's files; nothing is written unless both can be made."""
    text = None if path is None else layout.render([result])
    lines = None if cases_path is None or layout.cases is None else layout.cases(result)
    if path is not None and text is not None:
        with writing(path) as file:
            file.write(text.encode())
    if cases_path is not None and lines is not None:
        with writing(cases_path) as file:
            for line in lines:
                file.write(line.encode() + b"\n")


def save_verdicts(results: Sequence[Result], path: str) -> None:
    """Every case of every result, with the run it belongs to; Parquet or JSONL, as the suffix says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    bare = path.removesuffix(".gz").removesuffix(".zst")
    if not (bare.endswith((".parquet", ".jsonl")) or path == "-"):
        raise UsageError(f"{path}: verdicts are written as .parquet or .jsonl. Choose one of the two.")
    tables = [r.verdicts.add_column(0, "run", pa.array([r.run] * r.verdicts.num_rows, pa.string())) for r in results]
    table = pa.concat_tables(tables, promote_options="default")
    table = table.replace_schema_metadata({"layout": "karat-verdicts/1", "signature": str(results[0].signature)})
    with writing(path) as file:
        if bare.endswith(".parquet"):
            pq.write_table(table, file, compression="zstd")
            return
        encode = msgspec.json.Encoder().encode
        for batch in table.to_batches(max_chunksize=10_000):
            for row in batch.to_pylist():
                file.write(encode({name: value for name, value in row.items() if value is not None}) + b"\n")
