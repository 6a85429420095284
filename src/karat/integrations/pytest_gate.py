"""Plugin of pytest: the fixture `karat_gate`, which fails a test if a new version is significantly worse.

pytest loads this module in every session, so the rest of Karat is imported only when a test calls the fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from karat.analysis.comparison.gate import GateResult
    from karat.data.inputs import GoldInput, PredictionsInput, SystemsInput

_WIDTH = 100
"""Columns of the message of a failed test."""


@pytest.fixture
def karat_gate() -> Callable[..., GateResult]:
    """Return a function that fails the test if a new version of a system is significantly worse than a baseline.

    Its parameters are those of `check_versions`.
    """
    return check_versions


def check_versions(
    gold: GoldInput | list[GoldInput] | None,
    new: PredictionsInput | list[PredictionsInput],
    baseline: PredictionsInput | list[PredictionsInput],
    *,
    measure: str | None = None,
    max_drop: float = 0.0,
    profile: str = "karat",
    settings: Mapping[str, str] | None = None,
    kb: str | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    max_flips: int = 10,
    max_failed: int | None = None,
    allow_untested: bool = False,
) -> GateResult:
    """Compare `new` with `baseline` on `gold`, and fail the test if it is significantly worse.

    The test fails if, on some dataset, the whole interval of the difference is a drop of more than `max_drop`, more
    than `max_failed` documents failed or are missing, or, unless `allow_untested`, there is no interval. `gold` is
    None if `new` and `baseline` are results. For several datasets, all three are lists of paths, runs or results.
    `max_flips` is the number of lost, and of gained, mentions in the message.
    """
    __tracebackhide__ = True
    from karat.analysis.comparison.entries import resolve_entries
    from karat.analysis.comparison.gate import check_gate
    from karat.evaluation.request import Request
    from karat.model.errors import KaratError
    from karat.render.gate import render_page

    message = ""
    try:
        result = check_gate(
            resolve_entries(gold, _to_systems("new", new)),
            resolve_entries(gold, _to_systems("baseline", baseline)),
            Request.from_options(profile=profile, settings=settings or {}, kb=kb),
            max_drop=max_drop,
            confidence=confidence,
            measure=measure,
            resamples=resamples,
            max_failed=max_failed,
            allow_untested=allow_untested,
        )
    except KaratError as problem:
        message = f"karat_gate: {problem}"
    if message or not result.is_passed:
        pytest.fail(message or render_page(result, None, max_flips, _WIDTH), pytrace=False)
    return result


def _to_systems(name: str, version: PredictionsInput | list[PredictionsInput]) -> SystemsInput:
    """Return a version as systems: those in a list of paths, runs or results, or the only one under `name`."""
    from karat.model.results.result import Result
    from karat.model.run import Run

    is_list = isinstance(version, list) and all(isinstance(item, str | PathLike | Run | Result) for item in version)
    return version if is_list and version else {name: version}
