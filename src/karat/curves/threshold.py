"""Precision, recall and F1 over the threshold, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple

import pyarrow as pa

from karat.display import Displayed, Plotted
from karat.errors import UsageError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.evaluation.thresholds import Curve, threshold_at, tried
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.name import ViewName
from karat.model.result import Counted, counted
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats, Longs
from karat.spec.choices.threshold import SWEEPS, Sweep, Threshold

_SHORTS = ("micro.p", "micro.r", "micro.f1", "macro.p", "macro.r", "macro.f1")


class Point(NamedTuple):
    """What is counted at one threshold."""

    threshold: Threshold
    counts: Counted


@dataclass(frozen=True)
class ThresholdCurve(Displayed, Plotted):
    """The scores of one view at every threshold that a sweep tries, from the lowest to the highest.

    Any threshold chosen on this curve is an oracle: it was chosen on the data it is scored on.
    """

    _page: ClassVar = "karat.pages.curves"
    _charts: ClassVar = "karat.pages.charts.threshold"

    signature: Signature
    corpus: str
    run: str
    view: str
    sweep: Sweep
    at: Floats = field(repr=False)
    curve: Curve = field(repr=False)

    @cached_property
    def thresholds(self) -> tuple[Threshold, ...]:
        """The thresholds in `at`, where NaN keeps every answer."""
        return tuple(threshold_at(at, self.sweep) for at in self.at.tolist())

    @cached_property
    def places(self) -> Longs:
        """The rows of `curve` that belong to the thresholds."""
        return self.curve.places(self.at, strict=self.sweep.strict)

    def values(self, short: str) -> Floats:
        """A measure at each threshold, NaN where it is not defined."""
        return self.curve.values(short)[self.places]

    def points(self) -> Iterator[Point]:
        """The counts at each threshold."""
        for threshold, place in zip(self.thresholds, self.places.tolist(), strict=True):
            yield Point(threshold, counted(self.curve.weights[place]))

    @property
    def table(self) -> Arrow:
        """One row per threshold; a threshold of null keeps every answer."""
        weights = self.curve.weights[self.places]
        columns = {name: pa.array(weights[:, i]) for i, name in enumerate(Counted.__struct_fields__)}
        scores = {short: pa.array(self.values(short), from_pandas=True) for short in _SHORTS}
        at = pa.array(self.at, from_pandas=True)
        return pa.table({"run": pa.array([self.run] * len(at)), "threshold": at, **columns, **scores})


def curve(
    corpus: Corpus,
    run: Run,
    *,
    match: str = "strong",
    like: str = "karat",
    choices: Mapping[str, object] | None = None,
    kb: KB | None = None,
    allow_unknown: bool = False,
    **choice: object,
) -> ThresholdCurve:
    """Precision, recall and F1 over the threshold, exact at every score that occurs.

    `threshold` chooses the thresholds that are shown: `oracle` (the default, every score that occurs, as a lower
    bound), `oracle-gerbil` (every score, to be exceeded) or `oracle-bat` (129 steps).
    """
    given = {"threshold": "oracle", **(choices or {}), **choice, "match": match}
    request = Request.of(like=like, choices=given, kb=kb, allow_unknown=allow_unknown)
    sweep, view = request.conventions.threshold, only_view(request)
    if not isinstance(sweep, Sweep):
        raise UsageError(f"a curve has a sweep of thresholds. Use one of {', '.join(SWEEPS)}.")
    found = Evaluation.of(request, corpus, run)
    scores = found.curve(view, sweep.steps)
    return ThresholdCurve(found.signature, corpus.name, run.name, str(view), sweep, tried(scores, sweep), scores)


def only_view(request: Request) -> ViewName:
    """The one view that a curve is drawn of."""
    views = [view for view in request.views if not view.filters]
    if request.conventions.task.parts:
        name = request.conventions.task_name
        raise UsageError(f"{name} is the mean of several tasks, each with its own curve. Choose one.")
    if len(views) != 1:
        raise UsageError("a curve is that of one relation. Choose one.")
    return views[0]
