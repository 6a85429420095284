"""Do two systems differ, or is it chance? Tests on the same documents for both.

All are two-sided. Row i of both scores must be the same document: `karat.stats.samples.documents` sees to that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb, prod
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from karat.errors import UnknownNameError, UsageError
from karat.model.tables.columns import Floats, Longs
from karat.stats.samples.additive import Additive, difference, resampled
from karat.stats.samples.bootstrap import Distinct

Swap: TypeAlias = Literal["systems", "signs"]

TRIALS: Final = 10_000

_CELLS: Final = 1 << 17
"""How many numbers are held at once: so few that they stay in the cache and one core multiplies them."""

_BITS: Final = 32
"""One binomial draw costs about as much as this many coins."""

_NEAR: Final = 1e-9
_ROUNDING: Final = 1e-13
"""Differences that are equal but for rounding, of themselves or of the scores, are equal."""

_STEP: Final = 1e-4
"""How far sums are moved, relative to the largest, to see how a score changes."""


class Tested(NamedTuple):
    """The difference of two scores, and how often chance alone gives one as large; None where it has no value.

    `trials` says how often chance was tried; if `exact`, everything that could happen was looked at.
    """

    difference: float | None
    p: float | None
    trials: int
    exact: bool


def permutation_test(
    one: Additive, two: Additive, *, swap: Swap = "systems", trials: int = TRIALS, seed: int = 0
) -> Tested:
    """Would the scores differ as much if in each document a coin said who gave which answers?

    With `swap="systems"` the two change places in documents where the coin shows heads, and both scores are computed
    anew: approximate randomisation (Noreen, 1989; Yeh, COLING 2000), exact whatever the measure if it is all the same
    who is who. It is not the right test where one system answers far less than the other and precision is compared:
    swapping then swaps the sizes too. `swap="signs"` throws the coin over the sign of what each document adds to the
    difference, to first order; for means over documents both are the same, and for many documents it holds
    however different the systems are in other respects.

    Documents that change the same are thrown together, by a binomial draw. Where the coins can fall in no more than
    `trials` different ways, all are counted; else the p-value is (as extreme + 1) / (trials + 1), never 0.
    """
    if swap not in ("systems", "signs"):
        raise UnknownNameError("way to swap", swap, ("systems", "signs"))
    if trials < 1:
        raise UsageError(f"trials is {trials}. Give a number of at least 1.")
    both = difference(one, two)
    observed = both.value
    if np.isnan(observed):
        return Tested(None, None, 0, exact=False)
    game = _by_signs(both, observed) if swap == "signs" else _by_systems(both)
    ways = prod(int(count) + 1 for count in game.coins.times) if len(game.coins.times) <= trials else trials + 1
    extreme = _as_extreme(observed, one.value, two.value)
    if ways <= trials:
        chance = 0.0
        for heads, weight in _all_ways(game.coins):
            chance += float(weight @ ~(np.abs(game.after(heads)) < extreme))
        return Tested(observed, min(chance, 1.0), ways, exact=True)
    game = game._replace(coins=_singly(game.coins))
    # A throw that leaves a score without value speaks for no difference.
    found = sum(int((~(np.abs(game.after(heads)) < extreme)).sum()) for heads in _thrown(game.coins, trials, seed))
    return Tested(observed, (found + 1) / (trials + 1), trials, exact=False)


def bootstrap_test(one: Additive, two: Additive, *, resamples: int = TRIALS, seed: int = 0) -> Tested:
    """Does the difference move by its own size when documents are drawn anew?

    The share of resamples, the observed one among them, whose difference lies at least as far from the observed as
    that lies from 0. Right for many documents, whatever else differs between the systems; with few it finds
    differences a little too often. No p where less than two documents add to either score: one document says nothing
    about others.
    """
    return mean_bootstrap_test([(one, two)], resamples=resamples, seeds=[seed])


def mean_bootstrap_test(
    strata: Sequence[tuple[Additive, Additive]], *, seeds: Sequence[int], resamples: int = TRIALS
) -> Tested:
    """The same for the difference of means over strata, such as datasets: documents are drawn anew within each."""
    both = [difference(one, two) for one, two in strata]
    values = np.mean([[one.value, two.value] for one, two in strata], axis=0).tolist()
    observed = float(np.mean([each.value for each in both]))
    if np.isnan(observed):
        return Tested(None, None, 0, exact=False)
    if min(_adding(each.documents) for each in both) < 2:
        return Tested(observed, None, 0, exact=False)
    drawn = np.mean([resampled([each], resamples, seed)[0] for each, seed in zip(both, seeds, strict=True)], axis=0)
    # A sample that leaves a score without value speaks for no difference.
    found = int((~(np.abs(drawn - observed) < _as_extreme(observed, *values))).sum())
    return Tested(observed, (found + 1) / (resamples + 1), resamples, exact=False)


def _adding(documents: Distinct) -> int:
    """How many documents add anything."""
    return int(documents.times[documents.rows.any(axis=1)].sum())


def effect_size(one: Additive, two: Additive) -> float | None:
    """Cohen's d_z: the difference in standard deviations of what single documents do to it.

    For means over documents it is the mean of the paired differences over their standard deviation; for all others
    documents are represented by their pseudo-values (Tukey's jackknife). Cohen's h, for two proportions, takes them
    as independent, which scores of two systems on the same documents never are, and knows no F1. None where the
    systems do not differ in any document, or less than two documents say anything.
    """
    both = difference(one, two)
    without, count = both.without_one()
    n = int(count.sum())
    defined = ~np.isnan(without)
    if np.isnan(both.value) or count[defined].sum() < 2:
        return None
    pseudo, count = n * both.value - (n - 1) * without[defined], count[defined]
    mean = float(np.average(pseudo, weights=count))
    variance = float(count @ (pseudo - mean) ** 2) / float(count.sum() - 1)
    return mean / variance**0.5 if variance > (_NEAR * max(1.0, abs(mean))) ** 2 else None


def _as_extreme(observed: float, *values: float) -> float:
    """From where on a difference is as large as that of two values; neither may hang on a rounding error."""
    return abs(observed) * (1 - _NEAR) - _ROUNDING * max(map(abs, values))


class _Game(NamedTuple):
    """Coins with what each does, those that do the same together.

    A coin adds its row, halved, to the middle of the first side and takes it from that of the second, or the other way.
    """

    coins: Distinct
    middle: Floats
    score: Additive

    def after(self, heads: Floats) -> Floats:
        """The difference for each way the coins fell: how many of each kind showed heads."""
        moved = heads @ self.coins.rows - self.coins.times @ self.coins.rows / 2
        return self.score.of(np.hstack([self.middle - moved, self.middle + moved]))


def _by_systems(both: Additive) -> _Game:
    """Systems change places: a document moves the sums by the difference of what both add."""
    rows, count = both.documents
    if rows.shape[1] % 2:
        raise UsageError("scores made from different sums cannot change places. Compare one measure of both systems.")
    one, two = np.hsplit(rows, 2)
    middle = np.add(*np.hsplit(both.totals, 2)) / 2
    return _Game(_coins(two - one, count), middle, both)


def _by_signs(both: Additive, observed: float) -> _Game:
    """Signs change: a document moves the difference by what it adds to it, to first order."""
    rows, count = both.documents
    away = rows @ _slope(both)
    share = away - float(count @ away) / both.documents.total + observed / both.documents.total
    linear = Additive(np.zeros((0, 2)), lambda sums: sums[:, 1] - sums[:, 0])
    return _Game(_coins(share[:, None], count), np.zeros(1), linear)


def _slope(score: Additive) -> Floats:
    """How the score changes with each of its sums; a sum that it cannot do without does not count."""
    step = _STEP * max(float(np.abs(score.totals).max(initial=0.0)), 1.0)
    moves = step * np.eye(len(score.totals))
    slopes = (score.of(score.totals + moves) - score.of(score.totals - moves)) / (2 * step)
    return np.where(np.isnan(slopes), 0.0, slopes)


def _coins(change: Floats, count: Longs) -> Distinct:
    """Documents by what they change, whatever its sign: a coin has two sides. What changes nothing has no coin."""
    first = np.argmax(change != 0, axis=1)
    sign = np.sign(change[np.arange(len(change)), first])
    moving = sign != 0
    return _merged(change[moving] * sign[moving, None], count[moving])


def _merged(rows: Floats, count: Longs) -> Distinct:
    """Equal rows taken together, in a fixed order."""
    if not len(rows):
        return Distinct(rows, count)
    order = np.lexsort(rows.T[::-1])
    rows, count = rows[order], count[order]
    first = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)]))
    return Distinct(rows[first], np.add.reduceat(count, first))


def _all_ways(coins: Distinct) -> Iterator[tuple[Floats, Floats]]:
    """Every number of heads of every kind of coin, and how likely it is."""
    sizes = (coins.times + 1).tolist()
    chances = [[comb(n - 1, k) / 2 ** (n - 1) for k in range(n)] for n in sizes]
    ways, step = prod(sizes), max(1, _CELLS // max(1, len(sizes)))
    for start in range(0, ways, step):
        code = np.arange(start, min(start + step, ways))
        heads, weight = np.empty((len(code), len(sizes))), np.ones(len(code))
        for place, size in enumerate(sizes):
            code, number = np.divmod(code, size)
            heads[:, place] = number
            weight *= np.asarray(chances[place])[number]
        yield heads, weight


def _singly(coins: Distinct) -> Distinct:
    """Every coin for itself, where there are too few of each kind for a binomial draw to pay."""
    if len(coins.times) * _BITS < coins.total:
        return coins
    return Distinct(np.repeat(coins.rows, coins.times, axis=0), np.ones(coins.total, np.int64))


def _thrown(coins: Distinct, trials: int, seed: int) -> Iterator[Floats]:
    """Numbers of heads of every kind of coin, some trials at a time."""
    rng = np.random.default_rng(seed)
    kinds = len(coins.times)
    step = max(1, _CELLS // kinds)
    for start in range(0, trials, step):
        size = min(step, trials - start)
        if coins.total > kinds:
            yield rng.binomial(coins.times, 0.5, size=(size, kinds)).astype(np.float64)
        else:
            words = rng.integers(0, 2**64, size=(size, -(-kinds // 64)), dtype=np.uint64)
            yield np.unpackbits(words.view(np.uint8), axis=1)[:, :kinds].astype(np.float64)
