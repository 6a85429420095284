"""Scores in samples of documents, the same ones for the systems that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from karat.comparison.grid import Grid
from karat.comparison.terms import Terms
from karat.model.tables.columns import Bools, Floats
from karat.stats.samples.additive import Additive, resampled
from karat.stats.samples.bootstrap import interval
from karat.stats.samples.intervals import widened
from karat.stats.tests.contrast import Measure


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of the documents of a dataset, in which systems are scored, by their places in the grid.

    `adding` says for each system which documents add to its score. What a system scores in the samples depends on whom
    it is compared with, and on nobody else; alone, it is what its own interval is made from.
    """

    additives: Mapping[int, Additive]
    adding: Bools
    resamples: int
    seed: int
    _drawn: dict[tuple[int, ...], Floats] = field(default_factory=dict, repr=False)

    def of(self, places: Sequence[int]) -> Floats:
        """The scores of some systems in the same samples: resamples × systems, NaN where there are none.

        They do not depend on who is named first.
        """
        key = tuple(sorted(places))
        if key not in self._drawn:
            self._drawn[key] = self._scores(key)
        return self._drawn[key][:, [key.index(place) for place in places]]

    def _scores(self, places: tuple[int, ...]) -> Floats:
        values = np.full((self.resamples, len(places)), np.nan)
        own = [(column, self.additives[place]) for column, place in enumerate(places) if place in self.additives]
        if not own or not len(self.adding):
            return values
        base = np.hstack([score.base for _, score in own])
        ends = np.cumsum([0, *(score.base.shape[1] for _, score in own)]).tolist()
        beside = [
            Additive(base, score.of, _part(score, low, high))
            for (_, score), low, high in zip(own, ends[:-1], ends[1:], strict=True)
        ]
        for (column, _), found in zip(own, resampled(beside, self.resamples, self.seed), strict=True):
            values[:, column] = found
        return values

    def documents(self, places: Sequence[int]) -> int:
        """How many documents add to the score of one of some systems."""
        return int(self.adding[:, list(places)].any(axis=1).sum())

    def estimate(self, value: float, sampled: Floats, places: Sequence[int], level: float) -> Estimate:
        """A value made from the scores of some systems, and the interval from what it is in the samples."""
        return estimate(value, sampled, self.documents(places), level)


def _part(score: Additive, low: int, high: int) -> Measure:
    return lambda rows: score.adds(rows[:, low:high])


def samples(grid: Grid, dataset: str, terms: Terms) -> Samples:
    """The documents of a dataset, to be drawn anew."""
    row = grid.additives[dataset]
    size = len(next(iter(grid.cells[dataset].values())).result.ids)
    own = {grid.systems.index(system): score for system, score in row.items() if score is not None}
    adding = np.zeros((size, len(grid.systems)), np.bool_)
    for place, score in own.items():
        adding[:, place] = score.adds(score.base).any(axis=1)
    return Samples(own, adding, terms.resamples, grid.seed(dataset, terms.seed))


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
    counts = [each.documents(places) for each in drawn]
    return sum(counts) if min(counts, default=0) > 1 else 0
