"""Paired significance tests of two systems on the same documents.

All tests are two-sided. Row i of both scores must be the same document; `karat.stats.samples.documents` aligns them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb, prod
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from karat.model.errors import UnknownNameError, UsageError
from karat.model.tables.columns import Floats, Longs
from karat.stats.samples.additive import AdditiveScore, make_difference, resample_scores
from karat.stats.samples.bootstrap import DistinctRows
from karat.stats.samples.confidence_intervals import count_contributing

PermutationScheme: TypeAlias = Literal["systems", "signs"]
"""Whether permutations swap the systems' outputs or flip the signs of document contributions."""

TRIALS: Final = 10_000
"""The default number of permutations or resamples."""

_MAX_CELLS: Final = 1 << 17
"""The number of values held at once; few enough to stay in the cache and on one core."""

_BINOMIAL_COST: Final = 32
"""The number of single random bits that cost as much as one binomial draw."""

_TOLERANCE: Final = 1e-9
_ROUNDING_TOLERANCE: Final = 1e-13
"""Differences within these tolerances, relative to themselves or to the scores, count as equal."""

_STEP: Final = 1e-4
"""The relative step for numerical derivatives of a score."""


class SignificanceTest(NamedTuple):
    """The result of a significance test."""

    difference: float | None
    """The observed difference; None if undefined."""
    p: float | None
    """The two-sided p-value; None if undefined."""
    n_permutations: int
    """The number of permutations or resamples."""
    is_exact: bool
    """Whether all permutations were enumerated."""


def permutation_test(
    first: AdditiveScore,
    second: AdditiveScore,
    *,
    scheme: PermutationScheme = "systems",
    trials: int = TRIALS,
    seed: int = 0,
) -> SignificanceTest:
    """Test whether two scores differ more than under random permutations of the systems within documents.

    With `scheme="systems"`, the two systems' outputs are swapped in each document with probability 0.5, and both scores
    are recomputed: approximate randomisation (Noreen, 1989; Yeh, COLING 2000). This scheme is exact for any measure if
    the systems are exchangeable. It is unsuitable for precision if one system predicts far less than the other, since
    swapping also swaps the sizes. `scheme="signs"` flips the sign of each document's first-order contribution to the
    difference. For means over documents both schemes are the same. For many documents `signs` is valid however
    different the systems are.

    Documents with equal changes are permuted together by a binomial draw. If there are at most `trials` permutations,
    all are enumerated; else the p-value is (as extreme + 1) / (trials + 1), never 0.
    """
    if scheme not in ("systems", "signs"):
        raise UnknownNameError("permutation scheme", scheme, ("systems", "signs"))
    if trials < 1:
        raise UsageError(f"trials is {trials}. Give a number of at least 1.")
    score = make_difference(first, second)
    observed = score.value
    if np.isnan(observed):
        return SignificanceTest(None, None, 0, is_exact=False)
    permutation = _permute_signs(score, observed) if scheme == "signs" else _permute_systems(score)
    n_ways = (
        prod(int(count) + 1 for count in permutation.units.counts)
        if len(permutation.units.counts) <= trials
        else trials + 1
    )
    threshold = _extreme_threshold(observed, first.value, second.value)
    if n_ways <= trials:
        probability = 0.0
        for n_swapped, weight in _enumerate_permutations(permutation.units):
            probability += float(weight @ ~(np.abs(permutation.differences(n_swapped)) < threshold))
        return SignificanceTest(observed, min(probability, 1.0), n_ways, is_exact=True)
    permutation = permutation._replace(units=_split_units(permutation.units))
    # A permutation with an undefined score counts as extreme.
    n_extreme = sum(
        int((~(np.abs(permutation.differences(n_swapped)) < threshold)).sum())
        for n_swapped in _draw_permutations(permutation.units, trials, seed)
    )
    return SignificanceTest(observed, (n_extreme + 1) / (trials + 1), trials, is_exact=False)


def bootstrap_test(
    first: AdditiveScore, second: AdditiveScore, *, resamples: int = TRIALS, seed: int = 0
) -> SignificanceTest:
    """Test whether two scores differ, by resampling documents.

    The p-value is the share of resamples (including the observed sample) whose difference is at least as far from the
    observed difference as that is from 0. Valid for many documents; slightly too liberal for few. The p-value is None
    if fewer than two documents contribute.
    """
    return mean_bootstrap_test([(first, second)], resamples=resamples, seeds=[seed])


def mean_bootstrap_test(
    strata: Sequence[tuple[AdditiveScore, AdditiveScore]], *, seeds: Sequence[int], resamples: int = TRIALS
) -> SignificanceTest:
    """Test whether two means over strata, such as datasets, differ, by resampling documents within each stratum.

    A stratum is a pair of scores, and has its own seed. The p-value is that of `bootstrap_test`; it is None if fewer
    than two documents of a stratum contribute.
    """
    scores = [make_difference(first, second) for first, second in strata]
    values = np.mean([[first.value, second.value] for first, second in strata], axis=0).tolist()
    observed = float(np.mean([score.value for score in scores]))
    if np.isnan(observed):
        return SignificanceTest(None, None, 0, is_exact=False)
    if min(map(count_contributing, scores)) < 2:
        return SignificanceTest(observed, None, 0, is_exact=False)
    resampled = np.mean(
        [resample_scores([score], resamples, seed)[0] for score, seed in zip(scores, seeds, strict=True)], axis=0
    )
    # A resample with an undefined score counts as extreme.
    n_extreme = int((~(np.abs(resampled - observed) < _extreme_threshold(observed, *values))).sum())
    return SignificanceTest(observed, (n_extreme + 1) / (resamples + 1), resamples, is_exact=False)


def effect_size(first: AdditiveScore, second: AdditiveScore) -> float | None:
    """Return Cohen's d_z: the difference in standard deviations of the documents' contributions to it.

    For means over documents it is the mean of the paired differences divided by their standard deviation. For other
    scores, documents are represented by their pseudo-values (Tukey's jackknife). Cohen's h is unsuitable, since it
    assumes independent proportions. None if the systems differ in no document, or if fewer than two documents are
    defined.
    """
    score = make_difference(first, second)
    leave_one_out, counts = score.leave_one_out()
    n = int(counts.sum())
    defined = ~np.isnan(leave_one_out)
    if np.isnan(score.value) or counts[defined].sum() < 2:
        return None
    pseudo, counts = n * score.value - (n - 1) * leave_one_out[defined], counts[defined]
    mean = float(np.average(pseudo, weights=counts))
    variance = float(counts @ (pseudo - mean) ** 2) / float(counts.sum() - 1)
    return mean / variance**0.5 if variance > (_TOLERANCE * max(1.0, abs(mean))) ** 2 else None


def _extreme_threshold(observed: float, *values: float) -> float:
    """Return the absolute difference from which a permutation counts as extreme: `observed` less rounding tolerances.

    `values` are the two scores, whose size determines the rounding error.
    """
    return abs(observed) * (1 - _TOLERANCE) - _ROUNDING_TOLERANCE * max(map(abs, values))


class _Permutation(NamedTuple):
    """Permutation units with their effect on the sums; equal units are merged.

    A unit adds half its row to the first side and subtracts it from the second, or the reverse.
    """

    units: DistinctRows
    """The distinct units."""
    middle: Floats
    """The mean of both sides' sums."""
    score: AdditiveScore
    """The score of the difference."""

    def differences(self, n_swapped: Floats) -> Floats:
        """Return the difference of the scores for each permutation.

        `n_swapped` says how many units of each distinct kind are swapped: permutations × kinds.
        """
        change = n_swapped @ self.units.rows - self.units.counts @ self.units.rows / 2
        return self.score.from_totals(np.hstack([self.middle - change, self.middle + change]))


def _permute_systems(score: AdditiveScore) -> _Permutation:
    """Return permutation units that swap the systems' outputs in a document."""
    rows, counts = score.documents
    if rows.shape[1] % 2:
        raise UsageError("scores of different kinds cannot be swapped. Compare the same measure of both systems.")
    first, second = np.hsplit(rows, 2)
    middle = np.add(*np.hsplit(score.totals, 2)) / 2
    return _Permutation(_merge_changes(second - first, counts), middle, score)


def _permute_signs(score: AdditiveScore, observed: float) -> _Permutation:
    """Return permutation units that flip the sign of a document's first-order contribution to the difference."""
    rows, counts = score.documents
    influence = rows @ _compute_gradient(score)
    share = influence - float(counts @ influence) / score.documents.total + observed / score.documents.total
    linear = AdditiveScore(np.zeros((0, 2)), lambda sums: sums[:, 1] - sums[:, 0])
    return _Permutation(_merge_changes(share[:, None], counts), np.zeros(1), linear)


def _compute_gradient(score: AdditiveScore) -> Floats:
    """Return the numerical derivative of the score with respect to each of its sums; 0 where undefined."""
    step = _STEP * max(float(np.abs(score.totals).max(initial=0.0)), 1.0)
    moves = step * np.eye(len(score.totals))
    slopes = (score.from_totals(score.totals + moves) - score.from_totals(score.totals - moves)) / (2 * step)
    return np.where(np.isnan(slopes), 0.0, slopes)


def _merge_changes(changes: Floats, counts: Longs) -> DistinctRows:
    """Return the distinct rows of `changes`, with the sum of their counts; a row and its negative are the same.

    Rows of zeros are dropped.
    """
    first = np.argmax(changes != 0, axis=1)
    sign = np.sign(changes[np.arange(len(changes)), first])
    is_changed = sign != 0
    return _merge_rows(changes[is_changed] * sign[is_changed, None], counts[is_changed])


def _merge_rows(rows: Floats, counts: Longs) -> DistinctRows:
    """Return the distinct rows in a fixed order, with the sum of the counts of equal rows."""
    if not len(rows):
        return DistinctRows(rows, counts)
    order = np.lexsort(rows.T[::-1])
    rows, counts = rows[order], counts[order]
    first = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)]))
    return DistinctRows(rows[first], np.add.reduceat(counts, first))


def _enumerate_permutations(units: DistinctRows) -> Iterator[tuple[Floats, Floats]]:
    """Yield how many units of each kind are swapped in all possible permutations, with the permutations' probabilities.

    Each item is an array of permutations × kinds and an array of probabilities.
    """
    sizes = (units.counts + 1).tolist()
    probabilities = [[comb(n - 1, k) / 2 ** (n - 1) for k in range(n)] for n in sizes]
    n_ways, step = prod(sizes), max(1, _MAX_CELLS // max(1, len(sizes)))
    for start in range(0, n_ways, step):
        code = np.arange(start, min(start + step, n_ways))
        n_swapped, weight = np.empty((len(code), len(sizes))), np.ones(len(code))
        for index, size in enumerate(sizes):
            code, number = np.divmod(code, size)
            n_swapped[:, index] = number
            weight *= np.asarray(probabilities[index])[number]
        yield n_swapped, weight


def _split_units(units: DistinctRows) -> DistinctRows:
    """Return the units with a count of 1 each, if that is faster to draw from than binomial counts; else unchanged."""
    if len(units.counts) * _BINOMIAL_COST < units.total:
        return units
    return DistinctRows(np.repeat(units.rows, units.counts, axis=0), np.ones(units.total, np.int64))


def _draw_permutations(units: DistinctRows, trials: int, seed: int) -> Iterator[Floats]:
    """Yield how many units of each kind `trials` random permutations swap, as arrays of permutations × kinds."""
    rng = np.random.default_rng(seed)
    n_kinds = len(units.counts)
    step = max(1, _MAX_CELLS // n_kinds)
    for start in range(0, trials, step):
        size = min(step, trials - start)
        if units.total > n_kinds:
            yield rng.binomial(units.counts, 0.5, size=(size, n_kinds)).astype(np.float64)
        else:
            words = rng.integers(0, 2**64, size=(size, -(-n_kinds // 64)), dtype=np.uint64)
            yield np.unpackbits(words.view(np.uint8), axis=1)[:, :n_kinds].astype(np.float64)
