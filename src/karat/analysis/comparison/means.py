"""Averages of systems over datasets, and tests of the differences between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from karat.analysis.comparison.grid import Grid
from karat.analysis.comparison.options import CORRECTIONS, ComparisonOptions
from karat.analysis.comparison.samples import Estimate, Samples, count_contributing_documents, estimate
from karat.analysis.comparison.significance import DatasetScores, is_exchangeable, mean_mention_count, pair_test
from karat.model.tables.columns import Floats
from karat.stats.samples.additive import AdditiveScore
from karat.stats.significance.all_pairs import mean_difference_tests
from karat.stats.significance.contrast import TotalsMeasure
from karat.stats.significance.paired import mean_bootstrap_test, permutation_test


@dataclass(frozen=True, slots=True)
class Mean:
    """Average score of a system over datasets."""

    unweighted: Estimate
    """Mean in which every dataset counts equally."""
    weighted: Estimate
    """Mean weighted by the number of mentions."""
    reason: str | None = None
    """Reason for a missing weighted mean."""


@dataclass(frozen=True, slots=True)
class MeanPair:
    """Difference between the averages of two systems; every dataset counts equally."""

    system_a: str
    """First system."""
    system_b: str
    """Second system."""
    difference: float | None
    """Mean of `system_a` minus mean of `system_b`."""
    low: float | None
    """Lower end of the confidence interval."""
    high: float | None
    """Upper end of the confidence interval."""
    p: float | None
    """P-value."""
    corrected: float | None
    """P-value corrected for all pairs."""
    wins: int
    """Number of datasets on which `system_a` is significantly better."""
    losses: int
    """Number of datasets on which `system_b` is significantly better."""
    undecided: int
    """Number of datasets without a significant difference."""


def compute_means(grid: Grid, samples: Mapping[str, Samples], options: ComparisonOptions) -> dict[str, Mean]:
    """Return the unweighted and the weighted average score of each system over the datasets that all systems have.

    `samples`: bootstrap samples by dataset, for the confidence intervals. The weights are the numbers of mentions.
    """
    if not grid.common_datasets:
        return {system: Mean(Estimate(None), Estimate(None), "no dataset has scores of all") for system in grid.systems}
    weights = [mean_mention_count(grid, name) for name in grid.common_datasets]
    averages = [
        _weighted_means(grid, samples, options, np.ones(len(weights))),
        _weighted_means(grid, samples, options, np.array([np.nan if weight is None else weight for weight in weights])),
    ]
    reason = None if averages[1][0].value is not None else "there are no mentions to weigh by"
    return {
        system: Mean(unweighted, weighted, reason)
        for system, unweighted, weighted in zip(grid.systems, *averages, strict=True)
    }


def _weighted_means(
    grid: Grid, samples: Mapping[str, Samples], options: ComparisonOptions, weights: Floats
) -> list[Estimate]:
    """Return the weighted mean score of each system over the common datasets, with its confidence interval.

    `grid`: scores by dataset and system. `samples`: bootstrap samples by dataset, for the intervals. `options`: gives
    `alpha`. `weights`: one per common dataset. The means are undefined (None) if a weight is NaN or all weights are 0.
    """
    if np.isnan(weights).any() or not weights.sum():
        return [Estimate(None)] * len(grid.systems)
    share = weights / weights.sum()
    values = np.stack([grid.values(name) for name in grid.common_datasets])
    dataset_samples = [samples[name] for name in grid.common_datasets]
    estimates = []
    for index in range(len(grid.systems)):
        sampled: Floats = share @ np.stack([s.get_scores([index])[:, 0] for s in dataset_samples])
        estimates.append(
            estimate(
                float(share @ values[:, index]),
                sampled,
                count_contributing_documents(dataset_samples, [index]),
                options.alpha,
            )
        )
    return estimates


def test_mean_pairs(
    grid: Grid, samples: Mapping[str, Samples], datasets: Sequence[DatasetScores], options: ComparisonOptions
) -> tuple[MeanPair, ...]:
    """Test the difference between the unweighted averages of each pair of systems; p-values are corrected together.

    `samples` are by dataset. `datasets` are the tests on each dataset, from which wins and losses are counted.
    """
    index_pairs = list(combinations(range(len(grid.systems)), 2))
    p = mean_p_values(grid, index_pairs, options)
    corrected = CORRECTIONS[options.correction](p)
    return tuple(
        _build_mean_pair(grid, samples, datasets, pair, options, _nan_to_none(value), _nan_to_none(corrected_value))
        for pair, value, corrected_value in zip(index_pairs, p.tolist(), corrected.tolist(), strict=True)
    )


def _nan_to_none(value: float) -> float | None:
    """Return None for NaN, else the value."""
    return None if np.isnan(value) else value


def _build_mean_pair(
    grid: Grid,
    samples: Mapping[str, Samples],
    datasets: Sequence[DatasetScores],
    indices: tuple[int, int],
    options: ComparisonOptions,
    p: float | None,
    corrected: float | None,
) -> MeanPair:
    """Return the difference between the averages of two systems, given by their indices, with interval and wins.

    The p-value `p` and its correction are passed in.
    """
    names = grid.systems[indices[0]], grid.systems[indices[1]]
    pairs = [pair for dataset in datasets for pair in dataset.pairs if (pair.system_a, pair.system_b) == names]
    better_systems = [pair.better_system(options.alpha) for pair in pairs]
    counts = better_systems.count(names[0]), better_systems.count(names[1]), better_systems.count(None)
    if not grid.common_datasets:
        return MeanPair(*names, None, None, None, None, None, *counts)
    a, b = indices
    value = float(np.mean([np.subtract(*grid.values(name)[[a, b]]) for name in grid.common_datasets]))
    sampled = np.mean([np.subtract(*samples[name].get_scores(indices).T) for name in grid.common_datasets], axis=0)
    mean_difference = estimate(
        value,
        sampled,
        count_contributing_documents([samples[name] for name in grid.common_datasets], indices),
        options.alpha,
    )
    return MeanPair(*names, mean_difference.value, mean_difference.low, mean_difference.high, p, corrected, *counts)


def mean_p_values(grid: Grid, index_pairs: Sequence[tuple[int, int]], options: ComparisonOptions) -> Floats:
    """Return the p-value of the difference between mean scores for each pair of system indices; NaN if untestable.

    Permutations or bootstrap samples cover the documents of all common datasets.
    """
    undefined = np.full(len(index_pairs), np.nan)
    if len(grid.common_datasets) == 1:  # these are the tests of this dataset
        tests = [pair_test(grid, grid.common_datasets[0], pair, options) for pair in index_pairs]
        return _none_to_nan(None if test is None else test.p for test in tests)
    additives = [[grid.additive_scores[name][system] for name in grid.common_datasets] for system in grid.systems]
    scores = [[score for score in side if score is not None] for side in additives]
    if not grid.common_datasets or min(map(len, scores)) < len(grid.common_datasets):
        return undefined
    if options.test == "bootstrap":
        seeds, draws = [grid.derive_seed(name, options.seed) for name in grid.common_datasets], options.permutations
        strata_by_pair = [
            list(zip(*(scores[index] for index in grid.sort_by_name(pair)), strict=True)) for pair in index_pairs
        ]
        return _none_to_nan(
            mean_bootstrap_test(pair_strata, seeds=seeds, resamples=draws).p for pair_strata in strata_by_pair
        )
    if options.permute == "signs" or not is_exchangeable([score for side in scores for score in side]):
        means = [_stack_scores(side) for side in scores]
        trials, seed = options.permutations, options.seed
        return _none_to_nan(
            permutation_test(means[i], means[j], scheme="signs", trials=trials, seed=seed).p for i, j in index_pairs
        )
    order = grid.sort_by_name(range(len(scores)))
    strata = [
        np.stack([row[index].to_summands(row[index].base) for index in order], axis=1)
        for row in zip(*scores, strict=True)
    ]
    p = mean_difference_tests(strata, _to_totals_measure(scores[0][0]), trials=options.permutations, seed=options.seed)
    p_by_pair = dict(zip(map(frozenset, combinations(order, 2)), p.tolist(), strict=True))
    return np.array([p_by_pair[frozenset(pair)] for pair in index_pairs])


def _none_to_nan(p: Iterable[float | None]) -> Floats:
    """Return p-values as an array, with NaN for None."""
    return np.array([np.nan if value is None else value for value in p])


def _stack_scores(scores: Sequence[AdditiveScore]) -> AdditiveScore:
    """Return the mean of one system's scores on several datasets as one additive score over all their documents.

    Each dataset gets columns of its own in the rows of documents.
    """
    rows = [score.to_summands(score.base) for score in scores]
    width = rows[0].shape[1]
    base = np.zeros((sum(map(len, rows)), width * len(rows)))
    offset = 0
    for index, values in enumerate(rows):
        base[offset : offset + len(values), index * width : (index + 1) * width] = values
        offset += len(values)

    def mean(sums: Floats) -> Floats:
        parts = np.split(sums, len(scores), axis=1)
        mean_score: Floats = np.mean(
            [score.from_totals(part) for score, part in zip(scores, parts, strict=True)], axis=0
        )
        return mean_score

    return AdditiveScore(base, mean)


def _to_totals_measure(score: AdditiveScore) -> TotalsMeasure:
    """Return the formula of `score` for arrays of totals of any shape; the last axis holds the sums."""

    def measure(totals: Floats) -> Floats:
        flat = np.ascontiguousarray(totals).reshape(-1, totals.shape[-1])
        return score.from_totals(flat).reshape(totals.shape[:-1])

    return measure
