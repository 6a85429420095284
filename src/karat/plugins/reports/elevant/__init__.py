"""ELEVANT's result and case files, for its web app and scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from karat.model.errors import UsageError
from karat.model.results.result import Result
from karat.model.spec.report import Report
from karat.plugins.reports.elevant.cases import list_cases
from karat.plugins.reports.elevant.layout import FACETS, MEASURES, build_layout, collect_notes


def _render(results: Sequence[Result]) -> str:
    """Return the content of ELEVANT's result file; raise `UsageError` unless there is exactly one result."""
    if len(results) != 1:
        raise UsageError("ELEVANT's layout contains one system on one dataset. Score a single file of predictions.")
    return json.dumps(build_layout(results[0]))


REPORT = Report(
    title="ELEVANT's eval_results.json",
    suffix=".eval_results.json",
    render=_render,
    measures=MEASURES,
    facets=FACETS,
    notes=collect_notes,
    cases=lambda result: map(json.dumps, list_cases(result)),
    is_reference_layout=True,
)
