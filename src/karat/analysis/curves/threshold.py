"""Precision, recall and F1 over the threshold.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple

import pyarrow as pa

from karat.data.inputs import GoldInput, PredictionsInput, load_inputs
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.evaluation.thresholds import Curve, candidate_thresholds, threshold_at
from karat.kb.protocol import KB
from karat.model.errors import UsageError
from karat.model.keywords import check_keywords
from karat.model.measure_name import ViewName
from karat.model.results.display import ChartDisplay, TableDisplay
from karat.model.results.result import WeightSums, to_weight_sums
from karat.model.signature import Signature
from karat.model.spec.settings.threshold import SWEEPS, Sweep, Threshold
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats, Longs

_SHORTS = ("micro.p", "micro.r", "micro.f1", "macro.p", "macro.r", "macro.f1")


class Point(NamedTuple):
    """The counts at one threshold."""

    threshold: Threshold
    counts: WeightSums


@dataclass(frozen=True, eq=False)
class RunCurve:
    """A run whose curve is computed in one view."""

    signature: Signature
    """Everything that affects the scores."""
    corpus: str
    """Name of the corpus."""
    run: str
    """Name of the run."""
    view: str
    """Name of the view."""


@dataclass(frozen=True)
class ThresholdCurve(RunCurve, TableDisplay, ChartDisplay):
    """The scores of one view at every threshold of a sweep, in ascending order.

    A threshold selected on this curve is an oracle: it is selected on the data it is scored on.
    """

    _page: ClassVar = "karat.render.curves"
    _charts: ClassVar = "karat.render.charts.curve_set"

    def __repr__(self) -> str:
        return f"<ThresholdCurve of {self.run} on {self.corpus}: {self.view}, {len(self.min_scores)} thresholds>"

    sweep: Sweep
    """Which thresholds are tried."""
    min_scores: Floats = field(repr=False)
    """The thresholds; NaN keeps every prediction."""
    curve: Curve = field(repr=False)
    """The sums at every distinct score."""

    @cached_property
    def thresholds(self) -> tuple[Threshold, ...]:
        """The thresholds as objects."""
        return tuple(threshold_at(min_score, self.sweep) for min_score in self.min_scores.tolist())

    @cached_property
    def rows(self) -> Longs:
        """Row of `curve` for each threshold."""
        return self.curve.rows_for(self.min_scores, strict=self.sweep.is_strict)

    def values(self, short: str) -> Floats:
        """Return the measure `short`, such as `micro.f1`, at each threshold; NaN if undefined."""
        return self.curve.values(short)[self.rows]

    def points(self) -> Iterator[Point]:
        """Yield each threshold with the `WeightSums` of the predictions that reach the threshold."""
        for threshold, row in zip(self.thresholds, self.rows.tolist(), strict=True):
            yield Point(threshold, to_weight_sums(self.curve.weights[row]))

    @property
    def table(self) -> Arrow:
        """One row per threshold: `WeightSums` and measures. The null threshold includes every prediction."""
        weights = self.curve.weights[self.rows]
        columns = {name: pa.array(weights[:, i]) for i, name in enumerate(WeightSums.__struct_fields__)}
        scores = {short: pa.array(self.values(short), from_pandas=True) for short in _SHORTS}
        thresholds = pa.array(self.min_scores, from_pandas=True)
        return pa.table({"run": pa.array([self.run] * len(thresholds)), "threshold": thresholds, **columns, **scores})


@check_keywords
def threshold_curve(
    gold: GoldInput,
    predictions: PredictionsInput,
    *,
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
) -> ThresholdCurve:
    """Compute precision, recall and F1 of a run over the threshold, exact at every score that occurs.

    `gold` and `predictions` are each a path, a name from the catalogue, plain dictionaries, or an object.
    The setting `threshold` selects the thresholds: `oracle` (default: every score, as a lower bound), `oracle-gerbil`
    (every score, exclusive) or `oracle-bat` (129 steps).
    The setting `match` is the match relation, by default `strong`.
    """
    corpus, run = load_inputs(gold, predictions)
    merged_settings = {"match": "strong", "threshold": "oracle", **(settings or {})}
    request = Request.from_options(profile=profile, settings=merged_settings, kb=kb, allow_unknown=allow_unknown)
    return compute_threshold_curve(Evaluation.from_data(request, corpus, run))


def compute_threshold_curve(evaluation: Evaluation) -> ThresholdCurve:
    """Compute precision, recall and F1 over the threshold from an evaluation.

    Raise `UsageError` unless the request of the evaluation has a single relation and several thresholds.
    """
    sweep, view = evaluation.request.conventions.threshold, get_single_view(evaluation.request)
    if not isinstance(sweep, Sweep):
        raise UsageError(f"a curve needs several thresholds. Set threshold to one of {', '.join(SWEEPS)}.")
    curve = evaluation.compute_curve(view, sweep.steps)
    return ThresholdCurve(
        evaluation.signature,
        evaluation.corpus_name,
        evaluation.run_name,
        str(view),
        sweep,
        candidate_thresholds(curve, sweep),
        curve,
    )


def get_single_view(request: Request) -> ViewName:
    """Return the view that curves show: the only view of a request without filters, or else its only view.

    Raise `UsageError` if there are several.
    """
    views = [view for view in request.views if not view.filters] or request.views
    if request.conventions.task.parts:
        name = request.conventions.task_name
        raise UsageError(f"{name} averages several tasks, each with its own curve. Choose one of them.")
    if len(views) != 1:
        raise UsageError("a curve shows one relation. Pass a single relation with match.")
    return views[0]
