"""ELEVANT's own files of results and of cases, for its web app and its scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from karat.errors import UsageError
from karat.model.result import Result
from karat.reports.elevant.cases import cases
from karat.reports.elevant.layout import BY, MEASURES, layout, notes
from karat.spec.report import Report


def _render(results: Sequence[Result]) -> str:
    if len(results) != 1:
        raise UsageError("ELEVANT's layout holds one system on one benchmark. Score one file of answers.")
    return json.dumps(layout(results[0]))


def _cases(result: Result) -> Iterator[str]:
    return map(json.dumps, cases(result))


REPORT = Report(
    title="ELEVANT's eval_results.json",
    suffix=".eval_results.json",
    render=_render,
    measures=MEASURES,
    by=BY,
    notes=notes,
    cases=_cases,
    peer=True,
)
