"""Writing of results and verdicts to files.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from karat.model.errors import UsageError
from karat.model.output.control_chars import escape_json
from karat.model.results.result import Result
from karat.model.spec.report import Report
from karat.model.tables.arrow import Arrow
from karat.storage.atomic_writing import open_for_writing


def save_results(results: Sequence[Result], path: str) -> None:
    """Write results to a file as JSON, one object per line."""
    with open_for_writing(path) as file:
        for result in results:
            file.write(result.to_json() + b"\n")


def save_report(result: Result, layout: Report, path: str | None, cases_path: str | None) -> None:
    """Write one result to `path`, and its cases to `cases_path`, in the layout of a reference tool.

    A path of None writes nothing, and so does `cases_path` if the layout has no cases. Nothing is written unless both
    outputs can be rendered.
    """
    text = None if path is None else layout.render([result])
    lines = None if cases_path is None or layout.cases is None else layout.cases(result)
    if path is not None and text is not None:
        with open_for_writing(path) as file:
            file.write(text.encode())
    if cases_path is not None and lines is not None:
        with open_for_writing(cases_path) as file:
            for line in lines:
                file.write(line.encode() + b"\n")


def save_verdicts(results: Sequence[Result], path: str, view: str | None = None) -> None:
    """Write every case of every result, of one view or of all, as Parquet or JSONL by the suffix of `path`.

    Standard output (`-`) gets JSONL. Raises `UsageError` for another suffix.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    stem = path.removesuffix(".gz").removesuffix(".zst")
    if not (stem.endswith((".parquet", ".jsonl")) or path == "-"):
        raise UsageError(f"{path}: verdicts are written as .parquet or .jsonl. Choose one of the two.")
    # The columns of all results must be known before the first table is written.
    table_streams = [_verdict_tables(result, view) for result in results]
    first_tables = [next(tables) for tables in table_streams]
    metadata = {"layout": "karat-verdicts/2", "signature": str(results[0].signature)}
    schema = pa.unify_schemas([table.schema for table in first_tables]).with_metadata(metadata)
    parts = (
        piece for first, tables in zip(first_tables, table_streams, strict=True) for piece in chain([first], tables)
    )
    tables = (pa.concat_tables([schema.empty_table(), piece], promote_options="default") for piece in parts)
    with open_for_writing(path) as file:
        if stem.endswith(".parquet"):
            with pq.ParquetWriter(file, schema, compression="zstd") as writer:
                for table in tables:
                    writer.write_table(table.replace_schema_metadata(metadata))
            return
        encode = msgspec.json.Encoder().encode
        for batch in (batch for table in tables for batch in table.to_batches(max_chunksize=10_000)):
            for row in batch.to_pylist():
                content = {name: value for name, value in row.items() if value is not None}
                file.write(escape_json(encode(content)) + b"\n")


def _verdict_tables(result: Result, view: str | None) -> Iterator[Arrow]:
    """Yield the verdict tables of a result, for `view` or all views, with a first column for the name of its run."""
    import pyarrow as pa

    for table in result.verdict_tables(view, sentences=True):
        yield table.add_column(0, "run", pa.array([result.run] * table.num_rows, pa.string()))
