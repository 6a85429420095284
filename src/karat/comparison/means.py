"""Systems over several datasets: averages, and which differences between them are more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from karat.comparison.grid import Grid
from karat.comparison.samples import Estimate, Samples, adding, estimate
from karat.comparison.terms import CORRECTIONS, Terms
from karat.comparison.tests import DatasetScores, exchangeable, mentions_of, pair_test
from karat.model.tables.columns import Floats
from karat.stats.samples.additive import Additive
from karat.stats.tests.contrast import Measure
from karat.stats.tests.paired import permutation_test
from karat.stats.tests.pairwise import mean_swap_tests


@dataclass(frozen=True, slots=True)
class Mean:
    """A system over the datasets that are averaged: each counts alike, or as much as it has mentions."""

    unweighted: Estimate
    weighted: Estimate
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MeanPair:
    """Two systems over the datasets that are averaged, each of which counts alike.

    `corrected` is for all pairs. On so many of the datasets that both answered the first is significantly `better`, or
    `worse`, or they are `open`.
    """

    one: str
    two: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    corrected: float | None
    better: int
    worse: int
    open: int


def means(grid: Grid, drawn: Mapping[str, Samples], terms: Terms) -> dict[str, Mean]:
    """Averages over the common datasets."""
    if not grid.common:
        return {system: Mean(Estimate(None), Estimate(None), "no dataset has scores of all") for system in grid.systems}
    weights = [mentions_of(grid, name) for name in grid.common]
    found = [
        _weighted(grid, drawn, terms, np.ones(len(weights))),
        _weighted(grid, drawn, terms, np.array([np.nan if weight is None else weight for weight in weights])),
    ]
    lacking = None if found[1][0].value is not None else "there are no mentions to weigh by"
    return {
        system: Mean(unweighted, weighted, lacking)
        for system, unweighted, weighted in zip(grid.systems, *found, strict=True)
    }


def _weighted(grid: Grid, drawn: Mapping[str, Samples], terms: Terms, weights: Floats) -> list[Estimate]:
    if np.isnan(weights).any() or not weights.sum():
        return [Estimate(None)] * len(grid.systems)
    share = weights / weights.sum()
    values = np.stack([grid.values(name) for name in grid.common])
    own = [drawn[name] for name in grid.common]
    found = []
    for place in range(len(grid.systems)):
        sampled: Floats = share @ np.stack([each.of([place])[:, 0] for each in own])
        found.append(estimate(float(share @ values[:, place]), sampled, adding(own, [place]), terms.level))
    return found


def mean_pairs(
    grid: Grid, drawn: Mapping[str, Samples], datasets: Sequence[DatasetScores], terms: Terms
) -> tuple[MeanPair, ...]:
    """All pairs of systems over the common datasets."""
    places = list(combinations(range(len(grid.systems)), 2))
    p = mean_p(grid, places, terms)
    corrected = CORRECTIONS[terms.correction](p)
    return tuple(
        _mean_pair(grid, drawn, datasets, pair, terms, _number(own), _number(fixed))
        for pair, own, fixed in zip(places, p.tolist(), corrected.tolist(), strict=True)
    )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value


def _mean_pair(
    grid: Grid,
    drawn: Mapping[str, Samples],
    datasets: Sequence[DatasetScores],
    places: tuple[int, int],
    terms: Terms,
    p: float | None,
    corrected: float | None,
) -> MeanPair:
    names = grid.systems[places[0]], grid.systems[places[1]]
    both = [pair for dataset in datasets for pair in dataset.pairs if (pair.one, pair.two) == names]
    who = [pair.better(terms.level) for pair in both]
    won = who.count(names[0]), who.count(names[1]), who.count(None)
    if not grid.common:
        return MeanPair(*names, None, None, None, None, None, *won)
    one, two = places
    value = float(np.mean([np.subtract(*grid.values(name)[[one, two]]) for name in grid.common]))
    sampled = np.mean([np.subtract(*drawn[name].of(places).T) for name in grid.common], axis=0)
    found = estimate(value, sampled, adding([drawn[name] for name in grid.common], places), terms.level)
    return MeanPair(*names, found.value, found.low, found.high, p, corrected, *won)


def mean_p(grid: Grid, places: Sequence[tuple[int, int]], terms: Terms) -> Floats:
    """The p-values of the differences of means: coins are thrown for the documents of all datasets."""
    none = np.full(len(places), np.nan)
    if len(grid.common) == 1:  # these are the tests of this dataset
        own_p = [pair_test(grid, grid.common[0], pair, terms) for pair in places]
        return np.array([np.nan if each is None or each.p is None else each.p for each in own_p])
    own = [[grid.additives[name][system] for name in grid.common] for system in grid.systems]
    scores = [[score for score in side if score is not None] for side in own]
    if not grid.common or min(map(len, scores)) < len(grid.common):
        return none
    if terms.swap == "signs" or not exchangeable([score for side in scores for score in side]):
        means = [_stacked(side) for side in scores]
        throws, seed = terms.permutations, terms.seed
        p = [permutation_test(means[i], means[j], swap="signs", trials=throws, seed=seed).p for i, j in places]
        return np.array([np.nan if value is None else value for value in p])
    strata = [np.stack([score.adds(score.base) for score in row], axis=1) for row in zip(*scores, strict=True)]
    return mean_swap_tests(strata, _measure(scores[0][0]), trials=terms.permutations, seed=terms.seed)


def _stacked(scores: Sequence[Additive]) -> Additive:
    """The mean of scores on several datasets, as one of the documents of all."""
    rows = [score.adds(score.base) for score in scores]
    wide = rows[0].shape[1]
    base = np.zeros((sum(map(len, rows)), wide * len(rows)))
    first = 0
    for place, own in enumerate(rows):
        base[first : first + len(own), place * wide : (place + 1) * wide] = own
        first += len(own)

    def mean(sums: Floats) -> Floats:
        parts = np.split(sums, len(scores), axis=1)
        found: Floats = np.mean([score.of(part) for score, part in zip(scores, parts, strict=True)], axis=0)
        return found

    return Additive(base, mean)


def _measure(score: Additive) -> Measure:
    """The measure of an additive score for totals of any shape."""

    def measure(totals: Floats) -> Floats:
        flat = np.ascontiguousarray(totals).reshape(-1, totals.shape[-1])
        return score.of(flat).reshape(totals.shape[:-1])

    return measure
