"""Confidence intervals of additive scores.

Simulated corpora decided between the methods (see docs/statistics.md): both cover equally well. BCa balances its misses
better between both sides, but degrades if a few documents contain most mentions. So the percentile interval is the
default.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final, Literal, TypeAlias

from karat.model.errors import UnknownNameError
from karat.stats.normal import normal_cdf
from karat.stats.samples.additive import AdditiveScore, resample_scores
from karat.stats.samples.bca import bca_interval
from karat.stats.samples.bootstrap import Interval, check_confidence, percentile_interval
from karat.stats.samples.student import t_quantile

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
