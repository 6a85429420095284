"""The bias-corrected and accelerated bootstrap interval.

Efron, Better Bootstrap Confidence Intervals, JASA 82(397), 1987; the acceleration is that of the jackknife.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from karat.model.tables.columns import Floats, Longs
from karat.stats.normal import normal_cdf, normal_quantile
from karat.stats.samples.bootstrap import Interval, check_confidence

_TOLERANCE: Final = 1e-12
"""The difference below which values count as equal."""


def bca_interval(
    values: Floats, point: float, leave_one_out: Floats, counts: Longs, confidence: float = 0.95
) -> Interval | None:
    """Return the bias-corrected and accelerated interval of a score; None if undefined.

    `values` are the scores on resamples, `point` is the score on all documents. `leave_one_out` are the scores without
    one document of each kind, and `counts` the number of documents of each kind. NaN values are skipped.
    """
    check_confidence(confidence)
    defined = np.sort(values[~np.isnan(values)])
    if not len(defined) or np.isnan(point):
        return None
    bias, acceleration_factor = _bias_correction(defined, point), acceleration(leave_one_out, counts)
    ends = [
        _adjust_quantile(normal_quantile(share), bias, acceleration_factor)
        for share in ((1 - confidence) / 2, (1 + confidence) / 2)
    ]
    low, high = np.quantile(defined, ends)
    return Interval(float(low), float(high))


def acceleration(leave_one_out: Floats, counts: Longs) -> float:
    """Return a sixth of the skewness of the influence of single documents on the score; 0 if none has any influence.

    `leave_one_out` are the scores without one document of each kind, `counts` the number of documents of each kind.
    """
    defined = ~np.isnan(leave_one_out)
    values, counts = leave_one_out[defined], counts[defined]
    if not len(values):
        return 0.0
    influence = np.average(values, weights=counts) - values
    spread = float(counts @ influence**2)
    # Without this guard, rounding errors of a constant score would have skewness.
    if spread <= float(counts.sum()) * (_TOLERANCE * float(np.abs(values).max(initial=0.0))) ** 2:
        return 0.0
    return float(counts @ influence**3) / (6 * float(spread**1.5))


def _bias_correction(defined: Floats, point: float) -> float:
    """Return the normal quantile of the share of resampled scores below the score `point`; ties count half.

    `defined` are the resampled scores in ascending order.
    """
    tolerance = _TOLERANCE * max(1.0, abs(point))
    below, not_above = np.searchsorted(defined, [point - tolerance, point + tolerance], side="left")
    share = (below + not_above) / 2 / len(defined)
    # A score outside all resamples would be infinite; treat it as half a resample from the end.
    min_share = 0.5 / len(defined)
    return normal_quantile(min(max(share, min_share), 1 - min_share))


def _adjust_quantile(end: float, bias: float, acceleration_factor: float) -> float:
    """Return the share of resampled scores below an end of the adjusted interval.

    `end` is the normal quantile of the end before adjustment.
    """
    shifted = bias + end
    denominator = 1 - acceleration_factor * shifted
    if denominator <= 0:
        return 1.0 if shifted > 0 else 0.0
    return normal_cdf(bias + shifted / denominator)
