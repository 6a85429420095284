"""Excess area under the risk-coverage curve."""

from karat.model.spec.measure import Measure
from karat.stats.calibration import excess_aurc

MEASURE = Measure(
    title="Excess area under the risk-coverage curve",
    formula="AURC minus the AURC of the best possible ranking of the same predictions",
    undefined_case="no counted prediction has a score",
    aggregates=(),
    from_scores=excess_aurc,
    is_lower_better=True,
)
