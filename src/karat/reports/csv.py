"""One line for each measure of each run, for spreadsheets and programs."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO

from karat.model.result import Result
from karat.spec.report import Report

_HEAD = ("corpus", "run", "profile", "measure", "value", "low", "high", "n", "undefined", "signature")


def _render(results: Sequence[Result]) -> str:
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_HEAD)
    for result in results:
        writer.writerows(list(map(_cell, row)) for row in _rows(result))
    return file.getvalue()


def _rows(result: Result) -> Iterator[tuple[object, ...]]:
    for name in result.shown:
        score = result.score(name)
        low, high = result.intervals.get(name, (None, None))
        named = (result.corpus, result.run, result.profile, name)
        yield (*named, score.value, low, high, score.n, score.reason, result.signature)


def _cell(value: object) -> str:
    """A value as text; one that a spreadsheet would take for a formula has an apostrophe before it."""
    text = "" if value is None else repr(value) if isinstance(value, float) else str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


REPORT = Report(title="Comma-separated values", suffix=".csv", render=_render)
