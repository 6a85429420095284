"""A made-up suite."""

from __future__ import annotations

from karat.model.spec.suite import ComparisonCounts, Reproduction, Suite
from karat.storage.files import Source


def _run(path: str, kb: str | None) -> Reproduction:
    """Compare the number of lines of the file `path` with itself; `kb` is ignored."""
    lines = len(Source(path).get_child("figures.txt").read_bytes().splitlines())
    return Reproduction(1, 1, {"lines": ComparisonCounts(1, 1, lines, lines)})


SUITE = Suite(
    title="Made up",
    description="Lines, for a test. Data: a folder with figures.txt.",
    run=_run,
    data_path="made-up",
)
