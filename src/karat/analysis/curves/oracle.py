"""Summaries of a threshold curve for charts and tables: measures, best threshold and range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from karat.analysis.curves.threshold import ThresholdCurve
from karat.model.errors import UnknownNameError
from karat.model.spec.settings.threshold import Threshold
from karat.model.tables.columns import Floats

MEASURES: Final = {
    "micro.p": "micro precision",
    "micro.r": "micro recall",
    "micro.f1": "micro F1",
    "macro.p": "macro precision",
    "macro.r": "macro recall",
    "macro.f1": "macro F1",
}
"""Measures of a curve with the names that charts use."""


class Oracle(NamedTuple):
    """The best threshold of a curve, its index among the thresholds, and the value there."""

    threshold: Threshold
    threshold_index: int
    value: float


class ThresholdRange(NamedTuple):
    """The lowest and the highest threshold that are shown."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MeasureTrace:
    """A measure at every threshold of a curve; NaN if undefined."""

    values: Floats
    """Value at each threshold."""
    no_prediction_value: float
    """Value above the highest score, where no scored prediction is left."""

    def find_best(self, curve: ThresholdCurve) -> Oracle | None:
        """Return the threshold of `curve` with the highest value, the lowest on ties; None if undefined everywhere.

        `curve` must be the curve of this trace.
        """
        if not len(self.values) or np.isnan(self.values).all():
            return None
        index = int(np.nanargmax(self.values))
        return Oracle(curve.thresholds[index], index, float(self.values[index]))


def trace_measures(curve: ThresholdCurve, measures: Sequence[str]) -> dict[str, MeasureTrace]:
    """Return the values of `measures` at every threshold of a curve, by measure.

    Raise `UnknownNameError` for unknown ones.
    """
    rows = curve.rows
    values = {measure: curve.curve.values(check_measure(measure)) for measure in measures}
    return {
        measure: MeasureTrace(curve_values[rows], float(curve_values[0])) for measure, curve_values in values.items()
    }


def find_oracle(curve: ThresholdCurve, measure: str) -> Oracle | None:
    """Return the threshold with the highest value of `measure` on the curve's own corpus, the lowest on ties.

    Returns None if the measure is undefined everywhere.
    """
    return trace_measures(curve, [measure])[measure].find_best(curve)


def check_measure(measure: str) -> str:
    """Return `measure` if curves have it, otherwise raise `UnknownNameError`."""
    if measure not in MEASURES:
        raise UnknownNameError("measure of a curve", measure, MEASURES)
    return measure


def measure_family(measure: str) -> tuple[str, str, str]:
    """Return the names of precision, recall and F1 with the aggregate (micro or macro) of `measure`."""
    aggregate = check_measure(measure).partition(".")[0]
    return f"{aggregate}.p", f"{aggregate}.r", f"{aggregate}.f1"


def threshold_range(curves: Sequence[ThresholdCurve]) -> ThresholdRange:
    """Return the range of thresholds that a chart of `curves` shows, never of zero width.

    The range is 0 to 1 if all thresholds are within, else from the lowest to the highest threshold.
    """
    min_scores = np.concatenate([curve.min_scores[~np.isnan(curve.min_scores)] for curve in curves])
    low, high = (float(min_scores.min()), float(min_scores.max())) if len(min_scores) else (0.0, 1.0)
    if low >= 0 and high <= 1:
        return ThresholdRange(0.0, 1.0)
    return ThresholdRange(low, high) if low < high else ThresholdRange(low - 0.5, high + 0.5)
