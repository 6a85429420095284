"""One line for each measure of each run, for spreadsheets and programs."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO

from karat.model.results.result import Result
from karat.model.spec.report import Report

_HEADER = ("corpus", "run", "profile", "measure", "value", "low", "high", "n", "undefined", "oracle", "signature")


def _render(results: Sequence[Result]) -> str:
    """Return the results as CSV: a header, and one line for each table measure of each run."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_HEADER)
    for result in results:
        writer.writerows(list(map(_format_cell, row)) for row in _build_rows(result))
    return file.getvalue()


def _build_rows(result: Result) -> Iterator[tuple[object, ...]]:
    """Yield one row for each table measure of a result, with the columns of `_HEADER`."""
    for name in result.table_measures:
        score = result.score(name)
        low, high = result.intervals.get(name, (None, None))
        identification = (result.corpus, result.run, result.profile, name)
        oracle = "yes" if result.is_selected_on_corpus or result.has_oracle_threshold(name) else "no"
        yield (*identification, score.value, low, high, score.n, score.reason, oracle, result.signature)


def _format_cell(value: object) -> str:
    """Return a value as text; an apostrophe precedes text that a spreadsheet would take for a formula."""
    text = "" if value is None else repr(value) if isinstance(value, float) else str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


REPORT = Report(title="Comma-separated values", suffix=".csv", render=_render)
