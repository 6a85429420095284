"""Maximum calibration error."""

from karat.spec.measure import Measure
from karat.stats.calibration import maximum_calibration_error

MEASURE = Measure(
    title="Maximum calibration error",
    formula="the largest |share right − mean score| of ten equal bins",
    undefined="no answer that counts has a score",
    aggregates=(),
    scored=maximum_calibration_error,
    lower=True,
)
