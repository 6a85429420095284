"""Confidence intervals of additive scores and of proportions.

Simulated corpora decided between the methods (docs/explanation/statistics.md): both cover equally well. BCa balances
its misses better between both sides, but degrades if a few documents contain most mentions. So the percentile interval
is the default.

BCa, the bias-corrected and accelerated bootstrap interval: Efron, Better Bootstrap Confidence Intervals, JASA 82(397),
1987; the acceleration is that of the jackknife.

Wilson's score interval of a proportion: Wilson, Probable Inference, the Law of Succession, and Statistical Inference,
JASA 22(158), 1927.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final, Literal, TypeAlias

import numpy as np

from karat.model.errors import UnknownNameError, UsageError
from karat.model.tables.columns import Floats, Longs
from karat.stats.normal import normal_cdf, normal_quantile
from karat.stats.samples.additive import AdditiveScore, resample_scores
from karat.stats.samples.bootstrap import Interval, check_confidence, percentile_interval
from karat.stats.samples.jackknife import t_quantile

_TOLERANCE: Final = 1e-12
"""The difference below which values count as equal."""


IntervalMethod: TypeAlias = Literal["percentile", "bca", "wilson"]

METHODS: Final[tuple[IntervalMethod, ...]] = ("percentile", "bca", "wilson")
"""The interval methods; `wilson` uses no resamples and applies to shares only."""

RESAMPLES: Final = 1000
"""The default number of resamples."""

_MAX_CONFIDENCE: Final = 1 - 1e-12
"""A confidence level that excludes no resample."""


def bootstrap_intervals(
    scores: Sequence[AdditiveScore],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
    method: IntervalMethod = "percentile",
) -> list[Interval | None]:
    """Return the bootstrap confidence interval of each score; None if undefined or fewer than two documents contribute.

    Intervals are expanded if few documents contribute to a score; see `expand_confidence`. Scores with the same base
    share the draws.
    """
    if method not in ("percentile", "bca"):
        raise UnknownNameError("method for intervals from resamples", method, ("percentile", "bca"))
    check_confidence(confidence)
    intervals: list[Interval | None] = []
    for score, values in zip(scores, resample_scores(scores, resamples, seed), strict=True):
        expanded = expand_confidence(confidence, count_contributing(score))
        if expanded is None:
            intervals.append(None)
        elif method == "bca":
            intervals.append(bca_interval(values, score.value, *score.leave_one_out(), expanded))
        else:
            intervals.append(percentile_interval(values, expanded))
    return intervals


def count_contributing(score: AdditiveScore) -> int:
    """Return the number of documents with a summand other than 0 in a score."""
    return int(score.documents.counts[score.documents.rows.any(axis=1)].sum())


def expand_confidence(confidence: float, n_documents: int) -> float | None:
    """Return the share of resamples that an interval of level `confidence` must contain; None below two documents.

    Resamples of n documents vary too little by a factor of √((n - 1) / n), and their variance is an estimate, which
    Student's t accounts for. With 20 documents the ends move outwards by 10 %, with 200 by 1 %. Hesterberg, What
    Teachers Should Know About the Bootstrap, The American Statistician 69(4), 2015 ("expanded percentile interval").
    """
    if n_documents < 2:
        return None
    end = t_quantile((1 + confidence) / 2, n_documents - 1) * sqrt(n_documents / (n_documents - 1))
    # With very few documents the interval contains all resamples.
    return min(2 * normal_cdf(end) - 1, _MAX_CONFIDENCE)


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
