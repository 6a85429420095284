"""Calibration of scores as probabilities, and selective prediction by score.

`scores` and `correct` have one entry per prediction; `correct` is a boolean or a degree from 0 to 1. Callers drop
predictions without score. All values are None without predictions. None depends on the order of predictions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np

from karat.model.errors import InputError, UnknownNameError, UsageError
from karat.model.results.statistics import ratio
from karat.model.tables.columns import Bools, Floats, Longs

BinRule: TypeAlias = Literal["width", "mass"]
"""How predictions are binned: bins of equal width, or bins with equally many predictions."""


class Reliability(msgspec.Struct, frozen=True):
    """Predictions in bins of similar score.

    Bin i extends from `edges[i]` up to `edges[i + 1]`; the last bin includes its end.
    """

    edges: Floats
    """The edges of the bins."""
    count: Longs
    """The number of predictions in each bin."""
    score: Floats
    """The mean score in each bin, NaN if empty."""
    correct: Floats
    """The share of correct predictions in each bin, NaN if empty."""

    @property
    def gap(self) -> Floats:
        """The absolute difference of mean score and share of correct predictions, NaN if the bin is empty."""
        return np.abs(self.score - self.correct)


class RiskCoverage(msgspec.Struct, frozen=True):
    """Risk and coverage if only predictions above a threshold count; one entry per distinct score, highest first."""

    score: Floats
    """The threshold."""
    n_predictions: Longs
    """The number of predictions with at least this score."""
    coverage: Floats
    """Their share of all predictions."""
    risk: Floats
    """The share of wrong predictions among them."""


def reliability(scores: Floats, correct: Floats | Bools, bins: int = 10, rule: BinRule = "width") -> Reliability:
    """Return the number, mean score and share of correct of the predictions in each of `bins` bins of score.

    Raises `InputError` if a score is not between 0 and 1, and `UsageError` if a score is missing (NaN).
    A score on an edge belongs to the bin above; Guo et al. put it below, which leaves a score of 0 without bin. With
    `rule="mass"`, equal scores stay together, so that bins differ in size and there may be fewer, but none is empty
    (except without predictions, which gives one empty bin).
    """
    if rule not in _EDGE_FUNCTIONS:
        raise UnknownNameError("rule for bins", rule, _EDGE_FUNCTIONS)
    if bins < 1:
        raise UsageError(f"bins is {bins}. Give a number of at least 1.")
    predictions = _sort_probabilities(scores, correct)
    edges = _EDGE_FUNCTIONS[rule](predictions.scores, bins)
    bin_index = np.searchsorted(edges, predictions.scores, side="right")
    count = np.bincount(bin_index, minlength=len(edges) + 1)
    size = count.astype(np.float64)
    return Reliability(
        edges=np.concatenate([[0.0], edges, [1.0]]),
        count=count,
        score=ratio(_sum_groups(bin_index, predictions.scores, len(count)), size),
        correct=ratio(_sum_groups(bin_index, predictions.correct, len(count)), size),
    )


def expected_calibration_error(
    scores: Floats, correct: Floats | Bools, bins: int = 10, rule: BinRule = "width"
) -> float | None:
    """Return the mean over bins of |mean score - share of correct predictions|, weighted by predictions; None if empty.

    Guo et al., On Calibration of Modern Neural Networks, ICML 2017.
    """
    bins_table = reliability(scores, correct, bins, rule)
    filled = bins_table.count > 0
    return float(np.average(bins_table.gap[filled], weights=bins_table.count[filled])) if filled.any() else None


def maximum_calibration_error(
    scores: Floats, correct: Floats | Bools, bins: int = 10, rule: BinRule = "width"
) -> float | None:
    """Return the maximum over bins of |mean score - share of correct predictions|; None without predictions."""
    bins_table = reliability(scores, correct, bins, rule)
    filled = bins_table.count > 0
    return float(bins_table.gap[filled].max()) if filled.any() else None


def brier_score(scores: Floats, correct: Floats | Bools) -> float | None:
    """Return the mean squared difference of score and correctness; None without predictions.

    This is half of Brier's definition, which counts correct and wrong as two classes. Brier, Monthly Weather Review
    78(1), 1950.
    """
    predictions = _sort_probabilities(scores, correct)
    return float(np.mean((predictions.scores - predictions.correct) ** 2)) if len(predictions.scores) else None


def risk_coverage(scores: Floats, correct: Floats | Bools) -> RiskCoverage:
    """Return coverage and risk with every distinct score as threshold, highest first.

    Only the order of scores matters, so they need not be probabilities. Empty without predictions.
    """
    ties = _group_ties(scores, correct)
    n_predictions = np.cumsum(ties.size)
    return RiskCoverage(
        ties.score, n_predictions, coverage=n_predictions / len(scores), risk=np.cumsum(ties.wrong) / n_predictions
    )


def aurc(scores: Floats, correct: Floats | Bools) -> float | None:
    """Return the area under the risk-coverage curve: the mean risk of the first 1, 2, ..., n predictions by score.

    The value is the exact mean over all orders of equal scores. As the risk is linear in the errors, each prediction
    counts as the mean of its tie. Geifman and El-Yaniv, Selective Classification for Deep Neural Networks, NeurIPS
    2017.
    """
    ties = _group_ties(scores, correct)
    return _mean_risk(np.repeat(ties.wrong / ties.size, ties.size))


def excess_aurc(scores: Floats, correct: Floats | Bools) -> float | None:
    """Return `aurc` minus that of the best order, which ranks correct predictions first.

    Geifman, Uziel and El-Yaniv, Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers, ICLR 2019, but with
    the exact best area instead of their approximation.
    """
    area, best = aurc(scores, correct), _mean_risk(np.sort(1.0 - correct))
    # No order is better than the best; a negative difference is rounding.
    return None if area is None or best is None else max(0.0, area - best)


class _Predictions(NamedTuple):
    """Predictions sorted by score, then correctness, so that sums do not depend on their order."""

    scores: Floats
    correct: Floats


class _Ties(NamedTuple):
    """Groups of predictions with equal score, highest first."""

    score: Floats
    """The score of each group."""
    size: Longs
    """The number of predictions in each group."""
    wrong: Floats
    """The sum of errors in each group."""


def _sort_by_score(scores: Floats, correct: Floats | Bools) -> _Predictions:
    """Return the predictions in ascending order of score; raise `UsageError` if a score is missing (NaN)."""
    missing = np.count_nonzero(np.isnan(scores))
    if missing:
        raise UsageError(f"{missing} of {len(scores)} predictions have no score. Remove them.")
    order = np.lexsort((correct, scores))
    return _Predictions(scores[order], correct[order].astype(np.float64))


def _sort_probabilities(scores: Floats, correct: Floats | Bools) -> _Predictions:
    """Return the predictions in ascending order of score; raise `InputError` if a score is outside 0 to 1."""
    predictions = _sort_by_score(scores, correct)
    outside = np.count_nonzero((scores < 0) | (scores > 1))
    if outside:
        raise InputError(
            "scores",
            actual=f"{outside} of {len(scores)} outside 0..1 (lowest {scores.min():g}, highest {scores.max():g})",
            expected="probabilities from 0 to 1",
            remedy="Map them to probabilities, or use aurc, which needs only their order",
        )
    return predictions


def _group_ties(scores: Floats, correct: Floats | Bools) -> _Ties:
    """Return the groups of predictions with equal score, highest score first."""
    predictions = _sort_by_score(scores, correct)
    score, group, size = np.unique(predictions.scores, return_inverse=True, return_counts=True)
    wrong = _sum_groups(group, 1 - predictions.correct, len(score))
    return _Ties(score[::-1], size[::-1], wrong[::-1])


def _sum_groups(group: Longs, values: Floats, n_groups: int) -> Floats:
    """Return the sum of `values` in each of `n_groups` groups; `group` has the group number of each value."""
    return np.asarray(np.bincount(group, values, n_groups), np.float64)


def _mean_risk(wrong: Floats) -> float | None:
    """Return the mean risk of the first 1, 2, ..., n predictions, given their errors in order; None without any."""
    return float(np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1))) if len(wrong) else None


def _equal_width_edges(scores: Floats, bins: int) -> Floats:
    """Return the inner edges of `bins` bins of equal width between 0 and 1; `scores` are not used."""
    # Not linspace: 3 / 10 equals the float 0.3, but the third step of linspace does not.
    return np.arange(1, bins) / bins


def _equal_mass_edges(scores: Floats, bins: int) -> Floats:
    """Return the inner edges of at most `bins` bins with about equally many of the scores, which must be sorted."""
    if not len(scores):
        return scores
    edges = np.unique(scores[np.arange(1, bins) * len(scores) // bins])
    higher: Floats = edges[edges > scores[0]]
    return higher


_EDGE_FUNCTIONS: Final[dict[str, Callable[[Floats, int], Floats]]] = {
    "width": _equal_width_edges,
    "mass": _equal_mass_edges,
}
"""The function that returns the inner bin edges for scores in ascending order, by rule."""
