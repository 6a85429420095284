"""What is worth reading off a curve: its measures, its best threshold, and where its thresholds lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from karat.curves.threshold import ThresholdCurve
from karat.errors import UnknownNameError
from karat.model.tables.columns import Floats
from karat.spec.choices.threshold import Threshold

MEASURES: Final = {
    "micro.p": "micro precision",
    "micro.r": "micro recall",
    "micro.f1": "micro F1",
    "macro.p": "macro precision",
    "macro.r": "macro recall",
    "macro.f1": "macro F1",
}
"""The measures of a curve, and what charts call them."""


class Oracle(NamedTuple):
    """The best threshold of a curve, its place among the thresholds, and the value there."""

    threshold: Threshold
    place: int
    value: float


class Reach(NamedTuple):
    """The thresholds that are shown, from the lowest to the highest."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Traced:
    """A measure at every threshold of a curve, and `beyond` where no scored answer is left; NaN where undefined."""

    values: Floats
    beyond: float

    def best(self, curve: ThresholdCurve) -> Oracle | None:
        """The best threshold, the lowest on ties; None where the measure is undefined at all of them."""
        if not len(self.values) or np.isnan(self.values).all():
            return None
        place = int(np.nanargmax(self.values))
        return Oracle(curve.thresholds[place], place, float(self.values[place]))


def traced(curve: ThresholdCurve, measures: Sequence[str]) -> dict[str, Traced]:
    """Some measures of a curve by their names."""
    places = curve.places
    rows = {measure: curve.curve.values(known(measure)) for measure in measures}
    return {measure: Traced(values[places], float(values[0])) for measure, values in rows.items()}


def oracle_of(curve: ThresholdCurve, measure: str) -> Oracle | None:
    """The threshold of a curve that is best on this very corpus, the lowest on ties; None where there is none."""
    return traced(curve, [measure])[measure].best(curve)


def known(measure: str) -> str:
    """The name of a measure that curves have, or `UnknownNameError`."""
    if measure not in MEASURES:
        raise UnknownNameError("measure of a curve", measure, MEASURES)
    return measure


def family(measure: str) -> tuple[str, str, str]:
    """Precision, recall and F1 with the aggregate of a measure."""
    aggregate = known(measure).partition(".")[0]
    return f"{aggregate}.p", f"{aggregate}.r", f"{aggregate}.f1"


def reach_of(curves: Sequence[ThresholdCurve]) -> Reach:
    """From 0 to 1 where all thresholds lie there, else from the lowest to the highest; never of no width."""
    at = np.concatenate([curve.at[~np.isnan(curve.at)] for curve in curves])
    low, high = (float(at.min()), float(at.max())) if len(at) else (0.0, 1.0)
    if low >= 0 and high <= 1:
        return Reach(0.0, 1.0)
    return Reach(low, high) if low < high else Reach(low - 0.5, high + 0.5)
