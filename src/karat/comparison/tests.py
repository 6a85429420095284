"""Which differences between systems are more than chance, dataset by dataset and on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from karat.comparison.grid import Cell, Grid
from karat.comparison.samples import Estimate, Samples
from karat.comparison.terms import CORRECTIONS, Terms
from karat.stats.samples.additive import Additive
from karat.stats.tests.paired import Tested, bootstrap_test, effect_size, permutation_test
from karat.stats.tests.power import detectable
from karat.work import working

_FEW: Final = 50
"""With so many documents the paired bootstrap is about as often wrong as it says; see docs/statistics.md."""


@dataclass(frozen=True, slots=True)
class Score:
    """A system on a dataset.

    `rank` is one more than how many systems are significantly better: systems that cannot be told apart share one.
    `alone` says that the system differs significantly from all others. `seconds` is what it took. `chosen` says that it
    was chosen among its variants on this very dataset (oracle).
    """

    value: float | None
    low: float | None
    high: float | None
    rank: int | None
    alone: bool
    seconds: float | None = None
    reason: str | None = None
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems on a dataset: the score of the first less that of the second.

    `p` is that of `Terms.test`, `corrected` for all pairs on all datasets. `effect` is Cohen's d_z. `detectable` is
    the true difference that a single test at this level would find with a chance of `Terms.power`. Of some measures
    `lower` values are better.
    """

    one: str
    two: str
    difference: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    corrected: float | None = None
    effect: float | None = None
    detectable: float | None = None
    exact: bool = False
    reason: str | None = None
    lower: bool = False

    def better(self, level: float) -> str | None:
        """Which of the two is significantly better."""
        if self.corrected is None or self.difference is None or self.corrected > level:
            return None
        return self.one if (self.difference > 0) is not self.lower else self.two


@dataclass(frozen=True, slots=True)
class Extent:
    """The smallest, the middle and the largest of several numbers."""

    smallest: float
    median: float
    largest: float


@dataclass(frozen=True, slots=True)
class DatasetScores:
    """All systems on one dataset. `detectable` are the differences that it would find, over its pairs of systems.

    `mentions` are those that count, on average over the systems where profiles count them differently.
    """

    name: str
    data: str
    documents: int
    mentions: float | None
    averaged: bool
    scores: Mapping[str, Score]
    pairs: tuple[Pair, ...]
    detectable: Extent | None


def compared(grid: Grid, drawn: Mapping[str, Samples], terms: Terms) -> tuple[DatasetScores, ...]:
    """All systems on all datasets; all tests are corrected together."""
    every = [(name, places) for name in grid.datasets for places in _places(grid, name)]
    pairs = []
    with working("resampling, pairs of systems", len(every)) as advance:
        for name, places in every:
            pairs.append(_pair(grid, name, places, drawn[name], terms))
            advance(1)
    p = np.array([np.nan if pair.p is None else pair.p for pair in pairs])
    fixed = iter(
        replace(pair, corrected=None if np.isnan(value) else value)
        for pair, value in zip(pairs, CORRECTIONS[terms.correction](p).tolist(), strict=True)
    )
    return tuple(
        _dataset(grid, name, tuple(next(fixed) for _ in _places(grid, name)), drawn[name], terms)
        for name in grid.datasets
    )


def _places(grid: Grid, dataset: str) -> list[tuple[int, int]]:
    """The pairs of systems that answered a dataset."""
    return list(combinations([grid.systems.index(system) for system in grid.cells[dataset]], 2))


def _pair(grid: Grid, dataset: str, places: tuple[int, int], drawn: Samples, terms: Terms) -> Pair:
    names = grid.systems[places[0]], grid.systems[places[1]]
    one, two = (grid.additives[dataset][name] for name in names)
    first, second = grid.values(dataset)[list(places)].tolist()
    if np.isnan(first - second):
        return Pair(*names, None, reason="one of the two has no score", lower=grid.lower)
    if one is None or two is None:
        return Pair(
            *names, first - second, reason="the score does not follow from sums over documents", lower=grid.lower
        )
    tested = pair_test(grid, dataset, places, terms)
    assert tested is not None, "both follow from sums"
    sampled = np.subtract(*drawn.of(places).T)
    found = drawn.estimate(first - second, sampled, places, terms.level)
    defined = sampled[~np.isnan(sampled)]
    # Of one document nothing is known about what others would say.
    error = float(defined.std(ddof=1)) if found.low is not None and len(defined) > 1 else None
    return Pair(
        *names,
        found.value,
        found.low,
        found.high,
        p=tested.p,
        effect=effect_size(one, two),
        detectable=None if not error else detectable(error, level=1 - terms.level, power=terms.power),
        exact=tested.exact,
        lower=grid.lower,
        reason=None if tested.p is not None else "less than two documents add to the scores",
    )


def pair_test(grid: Grid, dataset: str, places: tuple[int, int], terms: Terms) -> Tested | None:
    """Whether two systems differ on a dataset by more than chance; None where their scores follow from no sums."""
    one, two = (grid.additives[dataset].get(grid.systems[place]) for place in places)
    if one is None or two is None:
        return None
    seed = grid.seed(dataset, terms.seed)
    if terms.test == "bootstrap":
        return bootstrap_test(one, two, resamples=terms.permutations, seed=seed)
    swap = terms.swap if exchangeable([one, two]) else "signs"
    return permutation_test(one, two, swap=swap, trials=terms.permutations, seed=seed)


def exchangeable(scores: Sequence[Additive]) -> bool:
    """Whether scores are one function of sums, so that systems can change places.

    Those that are made from moments around a centre of their own are not.
    """
    first = scores[0]
    return all(np.isclose(first.of(score.totals[None])[0], score.value, equal_nan=True) for score in scores[1:])


def _dataset(grid: Grid, name: str, pairs: tuple[Pair, ...], drawn: Samples, terms: Terms) -> DatasetScores:
    row = grid.cells[name]
    found = sorted(pair.detectable for pair in pairs if pair.detectable is not None)
    return DatasetScores(
        name=name,
        data=next(iter(row.values())).entry.data,
        documents=len(next(iter(row.values())).result.ids),
        mentions=mentions_of(grid, name),
        averaged=name in grid.common,
        scores={system: _score(grid, system, cell, pairs, drawn, terms) for system, cell in row.items()},
        pairs=pairs,
        detectable=Extent(found[0], float(np.median(found)), found[-1]) if found else None,
    )


def _score(grid: Grid, system: str, cell: Cell, pairs: Sequence[Pair], drawn: Samples, terms: Terms) -> Score:
    place = grid.systems.index(system)
    score, chosen = cell.score(grid.measure), cell.result.chosen
    if score.value is None:
        return Score(None, None, None, None, alone=False, seconds=cell.seconds, reason=score.reason, chosen=chosen)
    found = Estimate(score.value)
    if place in drawn.additives:
        found = drawn.estimate(score.value, drawn.of([place])[:, 0], [place], terms.level)
    own = [pair for pair in pairs if system in (pair.one, pair.two)]
    who = [pair.better(terms.level) for pair in own]
    tested = any(pair.p is not None for pair in own)
    return Score(
        found.value,
        found.low,
        found.high,
        rank=1 + sum(better not in (None, system) for better in who) if tested else None,
        alone=tested and None not in who,
        seconds=cell.seconds,
        reason=None if tested else "no pair could be tested",
        chosen=chosen,
    )


def mentions_of(grid: Grid, dataset: str) -> float | None:
    """How many mentions the measure is about, on average over the systems; None where nobody counts any."""
    view = str(grid.name.view)
    known = [{**cell.result.views, **cell.result.totals}.get(view) for cell in grid.cells[dataset].values()]
    counts = [float(statistics.gold.sum()) for statistics in known if statistics is not None]
    return sum(counts) / len(counts) if counts else None


def too_few_documents(datasets: Sequence[DatasetScores], terms: Terms) -> list[str]:
    """Whether samples of documents can vary as much as the documents do."""
    small = [dataset.name for dataset in datasets if dataset.documents < _FEW]
    if terms.test != "bootstrap" or not small:
        return []
    return [f"with less than {_FEW} documents the bootstrap finds differences too often: {', '.join(small)}"]


def too_few_throws(datasets: Sequence[DatasetScores], terms: Terms) -> list[str]:
    """Whether a p-value can be small enough to survive the correction at all."""
    tests = sum(pair.p is not None and not pair.exact for dataset in datasets for pair in dataset.pairs)
    said = terms.too_few(tests)
    return [] if said is None else [said]
