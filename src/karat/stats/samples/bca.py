"""The bias-corrected and accelerated bootstrap interval.

Efron, Better Bootstrap Confidence Intervals, JASA 82(397), 1987; the acceleration is that of the jackknife.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from karat.model.tables.columns import Floats, Longs
from karat.stats.normal import normal_quantile, normal_share
from karat.stats.samples.bootstrap import Interval, checked_level

_NEAR: Final = 1e-12
"""Values that differ by no more than rounding are equal."""


def bca(values: Floats, point: float, without_one: Floats, count: Longs, level: float = 0.95) -> Interval | None:
    """The part of resampled values that holds a share `level` of them, moved for bias and skewness.

    `point` is the score on all documents; `without_one` are the scores without one document of each kind, of which
    there are `count`. What is undefined (NaN) is left out; None if no resample, or the score itself, is defined.
    """
    checked_level(level)
    defined = np.sort(values[~np.isnan(values)])
    if not len(defined) or np.isnan(point):
        return None
    bias, speed = _bias(defined, point), acceleration(without_one, count)
    ends = [_moved(normal_quantile(share), bias, speed) for share in ((1 - level) / 2, (1 + level) / 2)]
    low, high = np.quantile(defined, ends)
    return Interval(float(low), float(high))


def acceleration(without_one: Floats, count: Longs) -> float:
    """A sixth of the skewness of what single documents do to the score; 0 where none does anything."""
    defined = ~np.isnan(without_one)
    values, count = without_one[defined], count[defined]
    if not len(values):
        return 0.0
    away = np.average(values, weights=count) - values
    spread = float(count @ away**2)
    # Without this guard, rounding errors of a constant score would have a skewness.
    if spread <= float(count.sum()) * (_NEAR * float(np.abs(values).max(initial=0.0))) ** 2:
        return 0.0
    return float(count @ away**3) / (6 * float(spread**1.5))


def _bias(defined: Floats, point: float) -> float:
    """How far, in standard normal deviations, the median of resamples lies below the score; ties count half."""
    near = _NEAR * max(1.0, abs(point))
    below, not_above = np.searchsorted(defined, [point - near, point + near], side="left")
    share = (below + not_above) / 2 / len(defined)
    # A score outside all resamples gives no number: it is taken as half a resample from the end.
    least = 0.5 / len(defined)
    return normal_quantile(min(max(share, least), 1 - least))


def _moved(end: float, bias: float, speed: float) -> float:
    """Which share of resamples lies below an end, given in standard normal deviations."""
    shifted = bias + end
    slowed = 1 - speed * shifted
    if slowed <= 0:
        return 1.0 if shifted > 0 else 0.0
    return normal_share(bias + shifted / slowed)
