"""Area under the risk-coverage curve."""

from karat.spec.measure import Measure
from karat.stats.calibration import aurc

MEASURE = Measure(
    title="Area under the risk-coverage curve",
    formula="the mean over n of the share of wrong answers among the n with the highest scores",
    undefined="no answer that counts has a score",
    aggregates=(),
    scored=aurc,
    lower=True,
)
