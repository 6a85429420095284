"""Brier score."""

from karat.spec.measure import Measure
from karat.stats.calibration import brier

MEASURE = Measure(
    title="Brier score",
    formula="the mean of (score − right)²",
    undefined="no answer that counts has a score",
    aggregates=(),
    scored=brier,
    lower=True,
)
