"""Brier score."""

from karat.model.spec.measure import Measure
from karat.stats.calibration import brier_score

MEASURE = Measure(
    title="Brier score",
    formula="mean of (score − correct)²",
    undefined_case="no counted prediction has a score",
    aggregates=(),
    from_scores=brier_score,
    is_lower_better=True,
)
