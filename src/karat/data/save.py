"""Writing of results and verdicts to files.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from karat.model.errors import UsageError
from karat.model.measure_name import parse_measure
from karat.model.output.control_chars import escape_json
from karat.model.registry import get_plugin
from karat.model.results.result import Result
from karat.model.spec.report import Report
from karat.model.spec.settings.user_terms import translate_view
from karat.model.tables.arrow import Arrow
from karat.storage.atomic_writing import open_for_writing


def save_results(results: Sequence[Result], path: str) -> None:
    """Write results to a file as JSON, one object per line."""
    with open_for_writing(path) as file:
        for result in results:
            file.write(result.to_json() + b"\n")


class LayoutFiles(msgspec.Struct, frozen=True):
    """Output files in the layout of a reference tool, such as ELEVANT: one system on one dataset."""

    name: str
    """Name of the layout."""
    layout: Report
    """The plugin of the layout."""
    path: str | None = None
    """File of the result; None writes none."""
    cases_path: str | None = None
    """File of the cases; None writes none."""

    @classmethod
    def from_name(cls, name: str, path: str | None = None, cases_path: str | None = None) -> LayoutFiles:
        """Return the output files of the layout `name`; raise an error if they cannot be written.

        At least one of the two files must be given, and the cases are JSON lines.
        """
        layout = get_plugin("reports", name, Report)
        if not layout.is_reference_layout:
            raise UsageError(f"--layout {name}: not a layout of another program. Use elevant, or remove --layout.")
        if path is None and cases_path is None:
            raise UsageError("--layout needs an output file. Add --json FILE, --verdicts FILE or both.")
        stem = (cases_path or "-").removesuffix(".gz").removesuffix(".zst")
        if cases_path is not None and (layout.cases is None or not (stem == "-" or stem.endswith(".jsonl"))):
            raise UsageError(f"{cases_path}: the layout {name} stores cases as JSON lines. Name the file .jsonl.")
        return cls(name, layout, path, cases_path)

    def check(self, n_runs: int, *, in_memory: bool) -> None:
        """Raise `UsageError` unless there is one run, and its data is in memory if cases are written."""
        if n_runs != 1:
            raise UsageError(
                f"a file in the layout {self.name} holds one system on one dataset. Pass one PREDICTIONS file."
            )
        if self.cases_path is not None and not in_memory:
            raise UsageError(
                f"the cases of {self.name} need gold and predictions in memory. Remove --engine and pass files instead "
                "of folders (karat data convert writes files), or remove --layout or --verdicts."
            )

    def save(self, result: Result) -> list[str]:
        """Write the result and its cases, and return notes on what the layout cannot express.

        Nothing is written unless both files can be rendered.
        """
        text = None if self.path is None else self.layout.render([result])
        lines = None if self.cases_path is None or self.layout.cases is None else self.layout.cases(result)
        if self.path is not None and text is not None:
            with open_for_writing(self.path) as file:
                file.write(text.encode())
        if self.cases_path is not None and lines is not None:
            with open_for_writing(self.cases_path) as file:
                for line in lines:
                    file.write(line.encode() + b"\n")
        return [] if self.layout.notes is None else list(self.layout.notes(result))


def select_view(result: Result, view: str | None) -> str | None:
    """Return the view whose cases are written to a file: `view`, or by default that of the first measure in tables.

    None means all views, as does the name `all`.
    """
    if view is None:
        return str(parse_measure(result.table_measures[0]).view)
    return None if view == "all" else translate_view(view)


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
