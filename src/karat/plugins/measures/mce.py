"""Maximum calibration error."""

from karat.model.spec.measure import Measure
from karat.stats.calibration import maximum_calibration_error

MEASURE = Measure(
    title="Maximum calibration error",
    formula="maximum over ten equal-width bins of |share correct − mean score|",
    undefined_case="no counted prediction has a score",
    aggregates=(),
    from_scores=maximum_calibration_error,
    is_lower_better=True,
)
