"""Expected calibration error."""

from karat.model.spec.measure import Measure
from karat.stats.calibration import expected_calibration_error

MEASURE = Measure(
    title="Expected calibration error",
    formula="mean over ten equal-width bins of |share correct − mean score|, weighted by the number of predictions",
    undefined_case="no counted prediction has a score",
    aggregates=(),
    from_scores=expected_calibration_error,
    is_lower_better=True,
)
