"""Results and verdicts into files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from karat.errors import UsageError
from karat.model.result import Result
from karat.model.tables.arrow import Arrow
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


def save_verdicts(results: Sequence[Result], path: str, view: str | None = None) -> None:
    """Every case of every result in a view, or in all, with run, sentence and names; Parquet or JSONL by the suffix."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    bare = path.removesuffix(".gz").removesuffix(".zst")
    if not (bare.endswith((".parquet", ".jsonl")) or path == "-"):
        raise UsageError(f"{path}: verdicts are written as .parquet or .jsonl. Choose one of the two.")
    # Pieces of one result may be many, so that the columns of all have to be known before the first is written.
    opened = [_verdicts_of(result, view) for result in results]
    firsts = [next(tables) for tables in opened]
    said = {"layout": "karat-verdicts/1", "signature": str(results[0].signature)}
    schema = pa.unify_schemas([table.schema for table in firsts]).with_metadata(said)
    pieces = (piece for first, tables in zip(firsts, opened, strict=True) for piece in chain([first], tables))
    tables = (pa.concat_tables([schema.empty_table(), piece], promote_options="default") for piece in pieces)
    with writing(path) as file:
        if bare.endswith(".parquet"):
            with pq.ParquetWriter(file, schema, compression="zstd") as writer:
                for table in tables:
                    writer.write_table(table.replace_schema_metadata(said))
            return
        encode = msgspec.json.Encoder().encode
        for batch in (batch for table in tables for batch in table.to_batches(max_chunksize=10_000)):
            for row in batch.to_pylist():
                file.write(encode({name: value for name, value in row.items() if value is not None}) + b"\n")


def _verdicts_of(result: Result, view: str | None) -> Iterator[Arrow]:
    """The verdicts of a result, with the run they belong to."""
    import pyarrow as pa

    for table in result.verdict_tables(view, sentences=True):
        yield table.add_column(0, "run", pa.array([result.run] * table.num_rows, pa.string()))
