"""Excess area under the risk-coverage curve."""

from karat.spec.measure import Measure
from karat.stats.calibration import excess_aurc

MEASURE = Measure(
    title="Excess area under the risk-coverage curve",
    formula="AURC minus that of the best possible order of the same answers",
    undefined="no answer that counts has a score",
    aggregates=(),
    scored=excess_aurc,
    lower=True,
)
