"""A made-up report."""

from __future__ import annotations

from collections.abc import Sequence

from karat.model.profile_signatures import shorten_signature
from karat.model.results.result import Result
from karat.model.spec.report import Report


def _render(results: Sequence[Result]) -> str:
    """Return one line for each of `results`."""
    return "".join(f"{result.run}\t{shorten_signature(result.signature)}\n" for result in results)


REPORT = Report(title="Made-up lines", suffix=".lines", render=_render)
