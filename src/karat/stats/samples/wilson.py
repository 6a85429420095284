"""The interval of a share: how many of how many.

Wilson, Probable Inference, the Law of Succession, and Statistical Inference, JASA 22(158), 1927.
"""

from __future__ import annotations

from math import sqrt

from karat.errors import UsageError
from karat.stats.normal import normal_quantile
from karat.stats.samples.bootstrap import Interval, checked_level


def wilson(part: float, whole: float, level: float = 0.95) -> Interval | None:
    """All shares that would not be rejected by a score test at `part` out of `whole`; None if the whole is 0.

    The cases are taken as independent of each other. Those of one document are not, as a rule: then the interval is
    too narrow, and drawing documents says more.
    """
    checked_level(level)
    if not 0 <= part <= whole:
        raise UsageError(f"{part:g} of {whole:g} is no share. Give a part from 0 to the whole.")
    if not whole:
        return None
    z = normal_quantile((1 + level) / 2)
    share, spread = part / whole, z * z / whole
    centre = share + spread / 2
    half = z * sqrt(share * (1 - share) / whole + spread / (4 * whole))
    # At the ends the two terms are equal but for rounding.
    low = 0.0 if part == 0 else (centre - half) / (1 + spread)
    high = 1.0 if part == whole else (centre + half) / (1 + spread)
    return Interval(low, high)
