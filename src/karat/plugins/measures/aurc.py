"""Area under the risk-coverage curve."""

from karat.model.spec.measure import Measure
from karat.stats.calibration import aurc

MEASURE = Measure(
    title="Area under the risk-coverage curve",
    formula="mean over n of the share of wrong predictions among the n predictions with the highest scores",
    undefined_case="no counted prediction has a score",
    aggregates=(),
    from_scores=aurc,
    is_lower_better=True,
)
