"""Confidence level of published bootstrap intervals: whether their ends are those that random samples give."""

from __future__ import annotations

from typing import Final

import numpy as np

from karat.model.tables.columns import Floats
from karat.protocols.suites.posthoc_2021.published_tables import N_RESAMPLES

_MIN_TAIL: Final = 0.0005
"""An end of an interval is improbable if fewer than this share of repetitions reach it."""


def fits_level(bounds: tuple[float, float], part: int, whole: int, level: float, other_level: float) -> bool:
    """Return whether `bounds` can be the interval of `part` / `whole` at `level`, and rather than at `other_level`."""
    return is_plausible_interval(bounds, part, whole, level) and _likelihood(bounds, part, whole, level) >= _likelihood(
        bounds, part, whole, other_level
    )


def is_plausible_interval(bounds: tuple[float, float], part: int, whole: int, confidence: float) -> bool:
    """Return whether `bounds` can be the ends of the bootstrap interval of `part` / `whole` at level `confidence`.

    The ends are order statistics of the resampled shares, and vary with the random samples.
    """
    return all(
        is_plausible_end(end, part, whole, rank) for end, rank in zip(bounds, _end_ranks(confidence), strict=True)
    )


def is_plausible_end(end: float, part: int, whole: int, rank: int) -> bool:
    """Return whether `end` can be the resampled share of `part` in `whole` with index `rank` in sorted order."""
    below, at_most = _distribution_at(end, part, whole, rank)
    return at_most > _MIN_TAIL and below < 1 - _MIN_TAIL


def _likelihood(bounds: tuple[float, float], part: int, whole: int, confidence: float) -> float:
    """Return the probability of exactly these ends at level `confidence`, as if they were independent."""
    likelihood = 1.0
    for end, rank in zip(bounds, _end_ranks(confidence), strict=True):
        below, at_most = _distribution_at(end, part, whole, rank)
        likelihood *= at_most - below
    return likelihood


def _end_ranks(confidence: float) -> tuple[int, int]:
    """Return the indices of both ends of an interval among the sorted resampled shares."""
    tail = round(N_RESAMPLES * (1 - confidence) / 2)
    return tail, N_RESAMPLES - tail


def _distribution_at(end: float, part: int, whole: int, rank: int) -> tuple[float, float]:
    """Return the probabilities that the resampled share with index `rank` is below `end`, and that it is at most it."""
    count = round(end * whole)
    cumulative = np.cumsum(_binomial(whole, part / whole))
    below = _tail(float(cumulative[count - 1]), rank + 1) if count else 0.0
    return below, _tail(float(cumulative[count]), rank + 1)


def _tail(probability: float, min_count: int) -> float:
    """Return the probability of at least `min_count` successes in all samples, each with `probability`."""
    if not 0 < probability < 1:
        return float(probability >= 1)
    return float(_binomial(N_RESAMPLES, probability)[min_count:].sum())


def _binomial(size: int, probability: float) -> Floats:
    """Return the binomial distribution of `size` trials: the probability of 0 to `size` successes."""
    if probability in (0.0, 1.0):
        certain = np.zeros(size + 1)
        certain[size if probability else 0] = 1.0
        return certain
    k = np.arange(size)
    steps = np.log((size - k) / (k + 1)) + np.log(probability) - np.log1p(-probability)
    logarithms = size * np.log1p(-probability) + np.concatenate([[0.0], np.cumsum(steps)])
    distribution: Floats = np.exp(logarithms)
    return distribution
