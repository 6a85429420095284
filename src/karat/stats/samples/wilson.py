"""The Wilson score interval of a proportion.

Wilson, Probable Inference, the Law of Succession, and Statistical Inference, JASA 22(158), 1927.
"""

from __future__ import annotations

from math import sqrt

from karat.model.errors import UsageError
from karat.stats.normal import normal_quantile
from karat.stats.samples.bootstrap import Interval, check_confidence


def wilson_interval(part: float, whole: float, confidence: float = 0.95) -> Interval | None:
    """Return the Wilson score interval of the proportion `part` / `whole`; None if `whole` is 0.

    The interval assumes independent cases. Cases of one document usually depend on each other, which makes the interval
    too narrow; resampling documents is then better.
    """
    check_confidence(confidence)
    if not 0 <= part <= whole:
        raise UsageError(f"{part:g} of {whole:g} is not a proportion. Give a part from 0 to the whole.")
    if not whole:
        return None
    z = normal_quantile((1 + confidence) / 2)
    share, spread = part / whole, z * z / whole
    centre = share + spread / 2
    half = z * sqrt(share * (1 - share) / whole + spread / (4 * whole))
    # At the ends the two terms are equal except for rounding.
    low = 0.0 if part == 0 else (centre - half) / (1 + spread)
    high = 1.0 if part == whole else (centre + half) / (1 + spread)
    return Interval(low, high)
