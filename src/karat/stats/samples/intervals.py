"""Confidence intervals of scores that are made from sums over documents.

Simulated corpora decide between the methods (docs/statistics.md has the figures): both cover equally well; BCa divides
its misses more evenly between both sides, but becomes worse where a few documents hold most mentions. So the percentile
interval is the default.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final, Literal, TypeAlias

from karat.errors import UnknownNameError
from karat.stats.normal import normal_share
from karat.stats.samples.additive import Additive, resampled
from karat.stats.samples.bca import bca
from karat.stats.samples.bootstrap import Interval, checked_level, interval
from karat.stats.samples.student import t_quantile

Method: TypeAlias = Literal["percentile", "bca", "wilson"]

METHODS: Final[tuple[Method, ...]] = ("percentile", "bca", "wilson")
"""How an interval is made; the last is not from resamples, and only for shares."""

RESAMPLES: Final = 1000

_ALL: Final = 1 - 1e-12
"""A level that leaves out no resample."""


def intervals(
    scores: Sequence[Additive],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: Method = "percentile",
) -> list[Interval | None]:
    """For each score the interval from samples of documents drawn with replacement; None where there is none.

    Intervals are made wider where few documents add to a score (see `widened`). Scores on one base share the draws.
    """
    if method not in ("percentile", "bca"):
        raise UnknownNameError("method for intervals from resamples", method, ("percentile", "bca"))
    checked_level(level)
    found: list[Interval | None] = []
    for score, values in zip(scores, resampled(scores, resamples, seed), strict=True):
        wide = widened(level, adding(score))
        if wide is None:
            found.append(None)
        elif method == "bca":
            found.append(bca(values, score.value, *score.without_one(), wide))
        else:
            found.append(interval(values, wide))
    return found


def adding(score: Additive) -> int:
    """How many documents add anything to a score."""
    return int(score.documents.times[score.documents.rows.any(axis=1)].sum())


def widened(level: float, documents: int) -> float | None:
    """The share of resamples that makes an interval of a level, for so many documents; None for less than two.

    Resamples of n documents vary by a factor of √((n - 1) / n) too little, and that their variance is an estimate is
    what Student's t is for. With 20 documents the ends move out by 10 %, with 200 by 1 %. Hesterberg, What Teachers
    Should Know About the Bootstrap, The American Statistician 69(4), 2015 ("expanded percentile interval").
    """
    if documents < 2:
        return None
    end = t_quantile((1 + level) / 2, documents - 1) * sqrt(documents / (documents - 1))
    # With very few documents all resamples are inside.
    return min(2 * normal_share(end) - 1, _ALL)
