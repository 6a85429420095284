"""Expected calibration error."""

from karat.spec.measure import Measure
from karat.stats.calibration import expected_calibration_error

MEASURE = Measure(
    title="Expected calibration error",
    formula="the mean over ten equal bins of |share right − mean score|, weighted by answers",
    undefined="no answer that counts has a score",
    aggregates=(),
    scored=expected_calibration_error,
    lower=True,
)
