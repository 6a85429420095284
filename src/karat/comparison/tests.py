"""Which differences between systems are more than chance, dataset by dataset and on average."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil
from typing import Final, Literal, TypeAlias

import numpy as np

from karat.comparison.grid import Cell, Grid
from karat.errors import UnknownNameError, UsageError
from karat.model.tables.columns import Bools, Floats
from karat.stats.samples.additive import Additive, resampled
from karat.stats.samples.bootstrap import interval
from karat.stats.samples.intervals import widened
from karat.stats.tests.benjamini_hochberg import benjamini_hochberg
from karat.stats.tests.contrast import Measure
from karat.stats.tests.holm import holm
from karat.stats.tests.paired import effect_size, permutation_test
from karat.stats.tests.power import detectable

Swap: TypeAlias = Literal["systems", "signs"]

CORRECTIONS: Final = {"holm": holm, "bh": benjamini_hochberg}
"""How p-values are made larger for how many there are."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What decides whether two systems differ: `level` is that of tests, and one minus it that of intervals.

    `swap` is what changes in a document whose coin shows heads, see `karat.stats.tests.paired.permutation_test`.
    """

    level: float = 0.05
    correction: str = "holm"
    resamples: int = 1000
    permutations: int = 10_000
    power: float = 0.8
    swap: Swap = "systems"
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise UsageError(f"level is {self.level}. Give a share between 0 and 1, such as 0.05.")
        if self.resamples < 2 or self.permutations < 1:
            raise UsageError("resamples and permutations are numbers of draws. Give at least 2 and 1.")
        if self.correction not in CORRECTIONS:
            raise UnknownNameError("correction", self.correction, CORRECTIONS)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """A system on a dataset.

    `rank` is one more than how many systems are significantly better: systems that cannot be told apart share one.
    `alone` says that the system differs significantly from all others. `seconds` is what it took.
    """

    value: float | None
    low: float | None
    high: float | None
    rank: int | None
    alone: bool
    seconds: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems on a dataset: the score of the first less that of the second.

    `p` is of the permutation test, `corrected` for all pairs on all datasets. `effect` is Cohen's d_z. `detectable` is
    the true difference that a single test at this level would find with a chance of `Rule.power`.
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

    def better(self, level: float) -> str | None:
        """Which of the two is significantly better."""
        if self.corrected is None or self.difference is None or self.corrected > level:
            return None
        return self.one if self.difference > 0 else self.two


@dataclass(frozen=True, slots=True)
class Spread:
    """The smallest, the middle and the largest of several numbers."""

    smallest: float
    median: float
    largest: float


@dataclass(frozen=True, slots=True)
class Dataset:
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
    detectable: Spread | None


@dataclass(frozen=True, eq=False, slots=True)
class Samples:
    """Scores in samples of documents, the same ones for all systems: resamples × systems, NaN where there are none.

    `adding` says for each system which documents add to its score.
    """

    values: Floats
    adding: Bools

    def estimate(self, value: float, sampled: Floats, systems: Sequence[int], level: float) -> Estimate:
        """A value made from the scores of some systems, and the interval from what it is in the samples."""
        return estimate(value, sampled, int(self.adding[:, list(systems)].any(axis=1).sum()), level)


def estimate(value: float, sampled: Floats, documents: int, level: float) -> Estimate:
    """A value and its interval; see `karat.stats.samples.intervals`."""
    if np.isnan(value):
        return Estimate(None)
    wide = widened(1 - level, documents)
    between = None if wide is None else interval(sampled, wide)
    return Estimate(float(value), *(between or (None, None)))


def adding(drawn: Iterable[Samples], places: Sequence[int]) -> int:
    """How many documents of several datasets add to the scores of some systems.

    None does where a dataset has less than two of them: what other documents would say is not known there, and so
    there is no interval of a mean over it.
    """
    counts = [int(each.adding[:, list(places)].any(axis=1).sum()) for each in drawn]
    return sum(counts) if min(counts, default=0) > 1 else 0


def seed_of(dataset: str, rule: Rule) -> int:
    """Where random numbers start for a dataset, whatever others are compared with it."""
    return int(np.random.SeedSequence((rule.seed, zlib.crc32(dataset.encode()))).generate_state(1)[0])


def samples(grid: Grid, dataset: str, rule: Rule) -> Samples:
    """Draw documents of a dataset anew, and score all systems on them."""
    row = grid.cells[dataset]
    own = {system: cell.additive for system, cell in row.items() if cell.additive is not None}
    size = len(next(iter(row.values())).result.ids)
    values = np.full((rule.resamples, len(grid.systems)), np.nan)
    adding = np.zeros((size, len(grid.systems)), np.bool_)
    if not own or not size:
        return Samples(values, adding)
    base = np.hstack([score.base for score in own.values()])
    ends = np.cumsum([0, *(score.base.shape[1] for score in own.values())]).tolist()
    side_by_side = [
        Additive(base, score.of, _part(score, low, high))
        for score, low, high in zip(own.values(), ends[:-1], ends[1:], strict=True)
    ]
    drawn = resampled(side_by_side, rule.resamples, seed_of(dataset, rule))
    for (system, score), found in zip(own.items(), drawn, strict=True):
        place = grid.systems.index(system)
        values[:, place], adding[:, place] = found, score.adds(score.base).any(axis=1)
    return Samples(values, adding)


def _part(score: Additive, low: int, high: int) -> Measure:
    return lambda rows: score.adds(rows[:, low:high])


def compared(grid: Grid, drawn: Mapping[str, Samples], rule: Rule) -> tuple[Dataset, ...]:
    """All systems on all datasets; all tests are corrected together."""
    pairs = [_pair(grid, name, places, drawn[name], rule) for name in grid.datasets for places in _places(grid, name)]
    p = np.array([np.nan if pair.p is None else pair.p for pair in pairs])
    fixed = iter(
        replace(pair, corrected=None if np.isnan(value) else value)
        for pair, value in zip(pairs, CORRECTIONS[rule.correction](p).tolist(), strict=True)
    )
    return tuple(
        _dataset(grid, name, tuple(next(fixed) for _ in _places(grid, name)), drawn[name], rule)
        for name in grid.datasets
    )


def _places(grid: Grid, dataset: str) -> list[tuple[int, int]]:
    """The pairs of systems that answered a dataset."""
    return list(combinations([grid.systems.index(system) for system in grid.cells[dataset]], 2))


def _pair(grid: Grid, dataset: str, places: tuple[int, int], drawn: Samples, rule: Rule) -> Pair:
    names = grid.systems[places[0]], grid.systems[places[1]]
    one, two = (grid.cells[dataset][name] for name in names)
    first, second = grid.values(dataset)[list(places)].tolist()
    if np.isnan(first - second):
        return Pair(*names, None, reason="one of the two has no score")
    if one.additive is None or two.additive is None:
        return Pair(*names, first - second, reason="the score does not follow from sums over documents")
    swap = rule.swap if exchangeable([one.additive, two.additive]) else "signs"
    tested = permutation_test(
        one.additive, two.additive, swap=swap, trials=rule.permutations, seed=seed_of(dataset, rule)
    )
    sampled = drawn.values[:, places[0]] - drawn.values[:, places[1]]
    found = drawn.estimate(first - second, sampled, places, rule.level)
    defined = sampled[~np.isnan(sampled)]
    # Of one document nothing is known about what others would say.
    error = float(defined.std(ddof=1)) if found.low is not None and len(defined) > 1 else None
    return Pair(
        *names,
        found.value,
        found.low,
        found.high,
        p=tested.p,
        effect=effect_size(one.additive, two.additive),
        detectable=None if not error else detectable(error, level=1 - rule.level, power=rule.power),
        exact=tested.exact,
    )


def exchangeable(scores: Sequence[Additive]) -> bool:
    """Whether scores are one function of sums, so that systems can change places.

    Those that are made from moments around a centre of their own are not.
    """
    first = scores[0]
    return all(np.isclose(first.of(score.totals[None])[0], score.value, equal_nan=True) for score in scores[1:])


def _dataset(grid: Grid, name: str, pairs: tuple[Pair, ...], drawn: Samples, rule: Rule) -> Dataset:
    row = grid.cells[name]
    found = sorted(pair.detectable for pair in pairs if pair.detectable is not None)
    return Dataset(
        name=name,
        data=next(iter(row.values())).entry.data,
        documents=len(next(iter(row.values())).result.ids),
        mentions=mentions_of(grid, name),
        averaged=name in grid.common,
        scores={system: _score(grid, system, cell, pairs, drawn, rule) for system, cell in row.items()},
        pairs=pairs,
        detectable=Spread(found[0], float(np.median(found)), found[-1]) if found else None,
    )


def _score(grid: Grid, system: str, cell: Cell, pairs: Sequence[Pair], drawn: Samples, rule: Rule) -> Score:
    place = grid.systems.index(system)
    if cell.score.value is None:
        return Score(None, None, None, None, alone=False, seconds=cell.entry.seconds, reason=cell.score.reason)
    found = Estimate(cell.score.value)
    if cell.additive is not None:
        found = drawn.estimate(cell.score.value, drawn.values[:, place], [place], rule.level)
    own = [pair for pair in pairs if system in (pair.one, pair.two)]
    who = [pair.better(rule.level) for pair in own]
    tested = any(pair.p is not None for pair in own)
    return Score(
        found.value,
        found.low,
        found.high,
        rank=1 + sum(better not in (None, system) for better in who) if tested else None,
        alone=tested and None not in who,
        seconds=cell.entry.seconds,
        reason=None if tested else "no pair could be tested",
    )


def mentions_of(grid: Grid, dataset: str) -> float | None:
    """How many mentions the measure is about, on average over the systems; None where nobody counts any."""
    view = str(grid.name.view)
    known = [{**cell.result.views, **cell.result.totals}.get(view) for cell in grid.cells[dataset].values()]
    counts = [float(statistics.gold.sum()) for statistics in known if statistics is not None]
    return sum(counts) / len(counts) if counts else None


def too_few_throws(datasets: Sequence[Dataset], rule: Rule) -> list[str]:
    """Whether a p-value can be small enough to survive the correction at all."""
    tests = sum(pair.p is not None and not pair.exact for dataset in datasets for pair in dataset.pairs)
    if rule.correction != "holm" or tests <= rule.level * (rule.permutations + 1):
        return []
    need = ceil(tests / rule.level)
    return [f"{tests} tests with {rule.permutations} permutations may find nothing at level {rule.level:g}: use {need}"]
