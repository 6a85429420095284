"""Bootstrap samples of documents, shared by the systems that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import Final

import numpy as np

from karat.analysis.comparison.grid import Grid
from karat.analysis.comparison.options import ComparisonOptions
from karat.model.tables.columns import Bools, Floats
from karat.stats.samples.additive import AdditiveScore, resample_scores
from karat.stats.samples.bootstrap import (
    has_shared_draws,
    percentile_interval,
    percentile_intervals,
    resample_in_order,
)
from karat.stats.samples.confidence_intervals import expand_confidence
from karat.stats.significance.contrast import TotalsMeasure

_MAX_CELLS: Final = 1 << 20
"""Number of sampled differences held at once."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its confidence interval; None if undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class Samples:
    """Bootstrap samples of the documents of a dataset, with the scores of systems in them.

    Systems are identified by their index in the grid. Which documents are drawn for some systems does not depend on
    other systems. A single system has the samples of its own evaluation.
    """

    additives: Mapping[int, AdditiveScore]
    """Scores as functions of sums over documents, by system index."""
    contributions: Bools
    """Documents × systems: whether a document contributes to the score of a system."""
    resamples: int
    """Number of samples."""
    seed: int
    """Random seed."""
    names: Sequence[str]
    """Names of the systems, in whose order they are resampled."""
    _cache: dict[tuple[int, ...], Floats] = field(default_factory=dict, repr=False)

    def get_scores(self, systems: Sequence[int]) -> Floats:
        """Return the scores of `systems` in bootstrap samples that they share, as resamples × systems.

        NaN if undefined. The samples do not depend on the order of `systems`. They are drawn once and cached.
        """
        key = tuple(sorted(systems, key=lambda index: self.names[index]))
        if key not in self._cache:
            self._cache[key] = self._resample(key)
        return self._cache[key][:, [key.index(index) for index in systems]]

    def _resample(self, systems: tuple[int, ...]) -> Floats:
        """Draw bootstrap samples of documents and return the scores of `systems` in them, as resamples × systems.

        `systems` must be sorted by name. A system without additive score gets NaN.
        """
        if has_shared_draws(len(self.contributions)) and len(systems) > 1:
            return self._shared_scores[:, list(systems)]
        values = np.full((self.resamples, len(systems)), np.nan)
        columns = [(column, self.additives[index]) for column, index in enumerate(systems) if index in self.additives]
        if not columns or not len(self.contributions):
            return values
        base = np.hstack([score.base for _, score in columns])
        ends = np.cumsum([0, *(score.base.shape[1] for _, score in columns)]).tolist()
        aligned = [
            AdditiveScore(base, score.from_totals, _summands_of_columns(score, low, high))
            for (_, score), low, high in zip(columns, ends[:-1], ends[1:], strict=True)
        ]
        for (column, _), scores in zip(columns, resample_scores(aligned, self.resamples, self.seed), strict=True):
            values[:, column] = scores
        return values

    @cached_property
    def _shared_scores(self) -> Floats:
        """The scores of all systems in samples that depend on no score, as resamples × systems."""
        values = np.full((self.resamples, self.contributions.shape[1]), np.nan)
        summands = {index: score.to_summands(score.base) for index, score in self.additives.items()}
        if not summands:
            return values
        rows = np.hstack(list(summands.values()))
        totals = resample_in_order(rows, self.resamples, self.seed)
        ends = np.cumsum([part.shape[1] for part in summands.values()])[:-1]
        for (index, score), sums in zip(self.additives.items(), np.split(totals, ends, axis=1), strict=True):
            values[:, index] = score.from_totals(sums)
        return values

    def estimate_differences(
        self, differences: Sequence[float], pairs: Sequence[tuple[int, int]], alpha: float
    ) -> list[Estimate]:
        """Return the differences between pairs of systems with their 1 - `alpha` intervals.

        `differences` has the score of the first minus that of the second system of each pair.
        """
        counts = self._count_pair_documents(pairs)
        levels = {count: expand_confidence(1 - alpha, count) for count in set(counts)}
        confidences = np.array([levels[count] or np.nan for count in counts], np.float64)
        ends = [
            percentile_intervals(self._sample_differences(pairs[part]), np.nan_to_num(confidences[part]))
            for part in self._list_blocks(pairs)
        ]
        low, high = (
            np.where(np.isnan(confidences), np.nan, np.concatenate(column)) for column in zip(*ends, strict=True)
        )
        return [
            Estimate(None) if isnan(value) else Estimate(value) if isnan(lower) else Estimate(value, lower, upper)
            for value, lower, upper in zip(differences, low.tolist(), high.tolist(), strict=True)
        ]

    def standard_errors(self, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """Return the standard error of the difference of each pair of systems; None below two defined samples."""
        errors: list[float | None] = []
        for part in self._list_blocks(pairs):
            for sampled in self._sample_differences(pairs[part]):
                defined = sampled[~np.isnan(sampled)]
                errors.append(float(defined.std(ddof=1)) if len(defined) > 1 else None)
        return errors

    def _list_blocks(self, pairs: Sequence[tuple[int, int]]) -> list[slice]:
        """Return blocks of pairs that are sampled together; at least one, which may be empty."""
        step = max(1, _MAX_CELLS // self.resamples)
        return [slice(start, start + step) for start in range(0, max(1, len(pairs)), step)]

    def _count_pair_documents(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """Count the documents that contribute to the score of at least one system of each pair."""
        marks = self.contributions.astype(np.float64)
        shared, counts = marks.T @ marks, marks.sum(axis=0)
        first, second = np.array(pairs, np.int64).reshape(-1, 2).T
        return list(map(int, counts[first] + counts[second] - shared[first, second]))

    def _sample_differences(self, pairs: Sequence[tuple[int, int]]) -> Floats:
        """Return the sampled differences between the scores of each pair of systems, as pairs × resamples."""
        if not has_shared_draws(len(self.contributions)):
            return np.array([np.subtract(*self.get_scores(pair).T) for pair in pairs]).reshape(-1, self.resamples)
        scores = self._shared_scores.T
        first, second = np.array(pairs, np.int64).reshape(-1, 2).T
        return scores[first] - scores[second]

    def count_documents(self, systems: Sequence[int]) -> int:
        """Count the documents that contribute to the score of at least one of `systems`."""
        return int(self.contributions[:, list(systems)].any(axis=1).sum())

    def estimate(self, value: float, sampled: Floats, systems: Sequence[int], alpha: float) -> Estimate:
        """Return `value`, computed from the scores of `systems`, with its 1 - `alpha` interval.

        `sampled` are the values in the bootstrap samples.
        """
        return estimate(value, sampled, self.count_documents(systems), alpha)


def _summands_of_columns(score: AdditiveScore, low: int, high: int) -> TotalsMeasure:
    """Return a function that computes the summands of `score` from rows of a wider table.

    Summands are the numbers of a document whose sums give the score. Columns `low` to `high` (exclusive) of the table
    are those of `score.base`; the others belong to other systems.
    """
    return lambda rows: score.to_summands(rows[:, low:high])


def build_samples(grid: Grid, dataset: str, options: ComparisonOptions) -> Samples:
    """Return bootstrap samples of the documents of a dataset, for all systems of the grid."""
    row = grid.additive_scores[dataset]
    size = len(next(iter(grid.cells[dataset].values())).result.ids)
    additives = {grid.systems.index(system): score for system, score in row.items() if score is not None}
    contributions = np.zeros((size, len(grid.systems)), np.bool_)
    for index, score in additives.items():
        contributions[:, index] = score.to_summands(score.base).any(axis=1)
    return Samples(additives, contributions, options.resamples, grid.derive_seed(dataset, options.seed), grid.systems)


def estimate(value: float, sampled: Floats, documents: int, alpha: float) -> Estimate:
    """Return `value` with a 1 - `alpha` percentile interval; `sampled` has the values in bootstrap samples.

    The interval is widened for few `documents` and missing for fewer than two, see
    `karat.stats.samples.confidence_intervals`. A NaN `value` gives an undefined estimate.
    """
    if np.isnan(value):
        return Estimate(None)
    confidence = expand_confidence(1 - alpha, documents)
    bounds = None if confidence is None else percentile_interval(sampled, confidence)
    return Estimate(float(value), *(bounds or (None, None)))


def count_contributing_documents(samples: Iterable[Samples], systems: Sequence[int]) -> int:
    """Count the documents of several datasets that contribute to the score of at least one of `systems`.

    `samples` has one item per dataset. Returns 0 if a dataset has fewer than two such documents: the variance on
    this dataset is unknown, so that a mean over the datasets has no interval.
    """
    counts = [dataset_samples.count_documents(systems) for dataset_samples in samples]
    return sum(counts) if min(counts, default=0) > 1 else 0
