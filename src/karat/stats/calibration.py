"""Whether scores mean what they say: as probabilities of being right, or as an order of trust.

`scores` and `right` have one entry per answer; `right` is true or false, or a degree from 0 to 1. Answers without
score are the caller's to drop. All values are None where there is no answer. None depends on the order of answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np

from karat.errors import InputError, UnknownNameError, UsageError
from karat.model.statistics import ratio
from karat.model.tables.columns import Bools, Floats, Longs

Rule: TypeAlias = Literal["width", "mass"]
"""How answers are put into bins: bins of equal width, or bins with equally many answers."""


class Reliability(msgspec.Struct, frozen=True):
    """Answers in bins of similar score. Bin i reaches from `edges[i]` up to `edges[i + 1]`; the last includes its end.

    `score` is the mean score and `right` the share of right answers in each bin, NaN where it is empty.
    """

    edges: Floats
    count: Longs
    score: Floats
    right: Floats

    @property
    def gap(self) -> Floats:
        """How far the mean score lies from the share of right answers, NaN where the bin is empty."""
        return np.abs(self.score - self.right)


class RiskCoverage(msgspec.Struct, frozen=True):
    """What happens when only answers with at least some score are kept; one entry per distinct score, highest first.

    `kept` is how many answers these are, `coverage` their share of all, `risk` the share of wrong ones among them.
    """

    score: Floats
    kept: Longs
    coverage: Floats
    risk: Floats


def reliability(scores: Floats, right: Floats | Bools, bins: int = 10, rule: Rule = "width") -> Reliability:
    """Mean score and share of right answers in bins of score.

    A score on an edge belongs to the bin above; Guo et al. put it below, which leaves a score of 0 without bin. By
    mass, equal scores stay together, so that bins differ in size and there may be fewer of them, but none is empty
    (unless there is no answer at all: then there is one, empty).
    """
    if rule not in _CUTS:
        raise UnknownNameError("rule for bins", rule, _CUTS)
    if bins < 1:
        raise UsageError(f"bins is {bins}. Give a number of at least 1.")
    answers = _as_probabilities(scores, right)
    cuts = _CUTS[rule](answers.scores, bins)
    place = np.searchsorted(cuts, answers.scores, side="right")
    count = np.bincount(place, minlength=len(cuts) + 1)
    size = count.astype(np.float64)
    return Reliability(
        edges=np.concatenate([[0.0], cuts, [1.0]]),
        count=count,
        score=ratio(_sums(place, answers.scores, len(count)), size),
        right=ratio(_sums(place, answers.right, len(count)), size),
    )


def expected_calibration_error(
    scores: Floats, right: Floats | Bools, bins: int = 10, rule: Rule = "width"
) -> float | None:
    """The mean over answers of the gap of their bin.

    Guo et al., On Calibration of Modern Neural Networks, ICML 2017.
    """
    found = reliability(scores, right, bins, rule)
    filled = found.count > 0
    return float(np.average(found.gap[filled], weights=found.count[filled])) if filled.any() else None


def maximum_calibration_error(
    scores: Floats, right: Floats | Bools, bins: int = 10, rule: Rule = "width"
) -> float | None:
    """The largest gap of any bin that is not empty."""
    found = reliability(scores, right, bins, rule)
    filled = found.count > 0
    return float(found.gap[filled].max()) if filled.any() else None


def brier(scores: Floats, right: Floats | Bools) -> float | None:
    """The mean squared difference between score and right. Brier, Monthly Weather Review 78(1), 1950.

    This is half of what Brier defined, which counts right and wrong as two classes.
    """
    answers = _as_probabilities(scores, right)
    return float(np.mean((answers.scores - answers.right) ** 2)) if len(answers.scores) else None


def risk_coverage(scores: Floats, right: Floats | Bools) -> RiskCoverage:
    """Coverage and risk at every distinct score; equal scores are kept or dropped together.

    Only the order of scores matters, so they need not lie in 0..1. Empty without answers.
    """
    ties = _ties(scores, right)
    kept = np.cumsum(ties.size)
    return RiskCoverage(ties.score, kept, coverage=kept / len(scores), risk=np.cumsum(ties.wrong) / kept)


def aurc(scores: Floats, right: Floats | Bools) -> float | None:
    """The area under the risk-coverage curve: the mean of the risks of the first 1, 2, ..., n answers by score.

    Among equal scores any order is as good as another; the value is the exact mean over all of them. As the risk is
    linear in what each answer got wrong, every answer may stand for the mean of its tie. Only the order of scores
    matters. Geifman and El-Yaniv, Selective Classification for Deep Neural Networks, NeurIPS 2017.
    """
    ties = _ties(scores, right)
    return _area(np.repeat(ties.wrong / ties.size, ties.size))


def excess_aurc(scores: Floats, right: Floats | Bools) -> float | None:
    """`aurc` less that of the best order, which puts right answers first: what is wrong with the order alone.

    Geifman, Uziel and El-Yaniv, Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers, ICLR 2019, but with
    the exact best area instead of their approximation.
    """
    given, best = aurc(scores, right), _area(np.sort(1.0 - right))
    # The best order is never beaten; a difference below zero is rounding.
    return None if given is None or best is None else max(0.0, given - best)


class _Answers(NamedTuple):
    """Answers sorted by score, then right, so that sums come out the same whatever their order was."""

    scores: Floats
    right: Floats


class _Ties(NamedTuple):
    """Answers of equal score, highest first: how many, and how much of them is wrong."""

    score: Floats
    size: Longs
    wrong: Floats


def _by_score(scores: Floats, right: Floats | Bools) -> _Answers:
    missing = np.count_nonzero(np.isnan(scores))
    if missing:
        raise UsageError(f"{missing} of {len(scores)} answers have no score. Leave them out.")
    order = np.lexsort((right, scores))
    return _Answers(scores[order], right[order].astype(np.float64))


def _as_probabilities(scores: Floats, right: Floats | Bools) -> _Answers:
    answers = _by_score(scores, right)
    outside = np.count_nonzero((scores < 0) | (scores > 1))
    if outside:
        raise InputError(
            "scores",
            found=f"{outside} of {len(scores)} outside 0..1 (lowest {scores.min():g}, highest {scores.max():g})",
            expected="probabilities from 0 to 1",
            remedy="Map them to probabilities, or ask for aurc, which needs only their order",
        )
    return answers


def _ties(scores: Floats, right: Floats | Bools) -> _Ties:
    answers = _by_score(scores, right)
    score, place, size = np.unique(answers.scores, return_inverse=True, return_counts=True)
    wrong = _sums(place, 1 - answers.right, len(score))
    return _Ties(score[::-1], size[::-1], wrong[::-1])


def _sums(place: Longs, values: Floats, places: int) -> Floats:
    return np.asarray(np.bincount(place, values, places), np.float64)


def _area(wrong: Floats) -> float | None:
    return float(np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1))) if len(wrong) else None


def _by_width(scores: Floats, bins: int) -> Floats:
    # Not linspace: 3 / 10 is the float that a score written 0.3 is, the third step of linspace is not.
    return np.arange(1, bins) / bins


def _by_mass(scores: Floats, bins: int) -> Floats:
    if not len(scores):
        return scores
    cuts = np.unique(scores[np.arange(1, bins) * len(scores) // bins])
    higher: Floats = cuts[cuts > scores[0]]
    return higher


_CUTS: Final[dict[str, Callable[[Floats, int], Floats]]] = {"width": _by_width, "mass": _by_mass}
"""Where one bin ends and the next begins, from scores in rising order."""
