"""Significance tests of the differences between systems, on each dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from karat.analysis.comparison.grid import Grid, GridCell
from karat.analysis.comparison.options import CORRECTIONS, TESTS, ComparisonOptions
from karat.analysis.comparison.samples import Estimate, Samples, build_samples
from karat.model.measure_name import MeasureName
from karat.model.output.command_options import format_option
from karat.model.output.progress import track_progress
from karat.model.output.text_layout import format_count
from karat.model.results.result import Result
from karat.stats.normal import normal_quantile
from karat.stats.samples.additive import AdditiveScore
from karat.stats.significance.paired import SignificanceTest, bootstrap_test, effect_size, permutation_test
from karat.stats.significance.power import detectable_difference, fewest_documents, smallest_permutation_p

_MIN_DOCUMENTS: Final = 50
"""Documents below which the paired bootstrap rejects too often; see docs/explanation/statistics.md."""


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system's score on a dataset."""

    value: float | None
    """Score; None if undefined."""
    low: float | None
    """Lower end of the confidence interval."""
    high: float | None
    """Upper end of the confidence interval."""
    rank: int | None
    """One plus the number of significantly better systems. Systems that cannot be separated share a rank."""
    differs_from_all: bool
    """Whether the system differs significantly from all other systems."""
    seconds: float | None = None
    """Runtime on the whole dataset; None if unknown, or if a document has none."""
    tokens: float | None = None
    """Number of tokens on the whole dataset; as for `seconds`."""
    cost: float | None = None
    """Cost of the whole dataset; as for `seconds`."""
    reason: str | None = None
    """Reason for a missing value or rank."""
    is_oracle: bool = False
    """Whether the system's variant, or the threshold of its predictions, was selected on this dataset."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems on a dataset and the test of their difference."""

    system_a: str
    """First system."""
    system_b: str
    """Second system."""
    difference: float | None
    """Score of `system_a` minus score of `system_b`."""
    low: float | None = None
    """Lower end of the confidence interval."""
    high: float | None = None
    """Upper end of the confidence interval."""
    p: float | None = None
    """P-value of the test in `ComparisonOptions.test`."""
    corrected: float | None = None
    """P-value corrected for all pairs on all datasets."""
    effect: float | None = None
    """Cohen's d_z."""
    detectable: float | None = None
    """True difference that one test at this level detects with the probability `ComparisonOptions.power`.

    None if the documents allow no p-value of at most `ComparisonOptions.alpha`, or no estimate.
    """
    standard_error: float | None = None
    """Standard error of the difference."""
    is_exact: bool = False
    """Whether the p-value is exact, from all permutations."""
    reason: str | None = None
    """Reason for a missing difference, p-value or detectable difference."""
    lower_is_better: bool = False
    """Whether lower values of the measure are better."""

    def better_system(self, alpha: float) -> str | None:
        """Return the system that is better with a corrected p-value of at most `alpha`; None if neither is."""
        if self.corrected is None or self.difference is None or self.corrected > alpha:
            return None
        return self.system_a if (self.difference > 0) is not self.lower_is_better else self.system_b


@dataclass(frozen=True, slots=True)
class ValueRange:
    """Smallest value, median and largest value."""

    smallest: float
    median: float
    largest: float


@dataclass(frozen=True, slots=True)
class DatasetScores:
    """All systems on one dataset."""

    name: str
    """Name of the dataset."""
    data: str
    """Dataset with its digest, as in signatures."""
    documents: int
    """Number of documents."""
    mentions: float | None
    """Number of scored mentions, averaged over the systems if they differ."""
    is_averaged: bool
    """Whether averages include the dataset."""
    scores: Mapping[str, SystemScore]
    """Score by system."""
    pairs: tuple[Pair, ...]
    """All pairs of systems."""
    detectable: ValueRange | None
    """Range of the detectable differences over all pairs; None if no pair has one, see `Pair.reason`."""


def score_datasets(grid: Grid, samples: Mapping[str, Samples], options: ComparisonOptions) -> tuple[DatasetScores, ...]:
    """Score all systems and test all pairs on each dataset; p-values are corrected for all tests together.

    `samples`: bootstrap samples by dataset, for the intervals.
    """
    pairs: list[Pair] = []
    with track_progress(
        "resampling, pairs of systems", sum(len(_system_pairs(grid, name)) for name in grid.datasets)
    ) as advance:
        for name in grid.datasets:
            tested_pairs = []
            for indices in _system_pairs(grid, name):
                tested_pairs.append(_compare_pair(grid, name, indices, options))
                advance(1)
            pairs += _describe_differences(grid, name, tested_pairs, samples[name], options)
    corrected = iter(correct_pairs(pairs, options))
    return tuple(
        _build_dataset(grid, name, tuple(next(corrected) for _ in _system_pairs(grid, name)), samples[name], options)
        for name in grid.datasets
    )


def test_dataset(grid: Grid, dataset: str, options: ComparisonOptions) -> list[Pair]:
    """Test all pairs of systems on one dataset, without intervals, effect sizes and detectable differences.

    The p-values are those of `score_datasets` before `correct_pairs`.
    """
    return [_compare_pair(grid, dataset, indices, options) for indices in _system_pairs(grid, dataset)]


def estimate_differences(grid: Grid, dataset: str, options: ComparisonOptions) -> list[Pair]:
    """Return all pairs of systems on one dataset with difference and interval, without tests.

    Differences and intervals are those of `score_datasets`, in the order of `test_dataset`.
    """
    indices, scores = _system_pairs(grid, dataset), grid.values(dataset).tolist()
    differences = [scores[a] - scores[b] for a, b in indices]
    estimates = build_samples(grid, dataset, options).estimate_differences(differences, indices, options.alpha)
    return [
        Pair(
            grid.systems[a],
            grid.systems[b],
            estimate.value,
            estimate.low,
            estimate.high,
            reason="not tested",
            lower_is_better=grid.lower_is_better,
        )
        for (a, b), estimate in zip(indices, estimates, strict=True)
    ]


def correct_pairs(pairs: Sequence[Pair], options: ComparisonOptions) -> list[Pair]:
    """Return the tested pairs of all datasets with p-values that are corrected for all of them."""
    p = np.array([np.nan if pair.p is None else pair.p for pair in pairs])
    return [
        replace(pair, corrected=None if np.isnan(value) else value)
        for pair, value in zip(pairs, CORRECTIONS[options.correction](p).tolist(), strict=True)
    ]


def _system_pairs(grid: Grid, dataset: str) -> list[tuple[int, int]]:
    """Return all pairs of indices of systems with predictions for a dataset."""
    return list(combinations([grid.systems.index(system) for system in grid.cells[dataset]], 2))


def _compare_pair(grid: Grid, dataset: str, indices: tuple[int, int], options: ComparisonOptions) -> Pair:
    """Test the difference between two systems, given by their indices, on a dataset.

    The p-value is not yet corrected, and the pair has neither an interval nor values that follow from it.
    """
    names = grid.systems[indices[0]], grid.systems[indices[1]]
    additive_a, additive_b = (grid.additive_scores[dataset][name] for name in names)
    score_a, score_b = grid.values(dataset)[list(indices)].tolist()
    if np.isnan(score_a - score_b):
        return Pair(*names, None, reason="one of the systems has no score", lower_is_better=grid.lower_is_better)
    if additive_a is None or additive_b is None:
        cell = grid.cells[dataset][names[0] if additive_a is None else names[1]]
        reason = cell.explain_missing_sums(grid.measure)
        return Pair(*names, score_a - score_b, reason=reason, lower_is_better=grid.lower_is_better)
    test = pair_test(grid, dataset, indices, options)
    assert test is not None, "both scores are functions of sums"
    return Pair(
        *names,
        score_a - score_b,
        p=test.p,
        is_exact=test.is_exact,
        lower_is_better=grid.lower_is_better,
        reason=None if test.p is not None else "fewer than two documents contribute to the scores",
    )


def _describe_differences(
    grid: Grid, dataset: str, tested_pairs: Sequence[Pair], samples: Samples, options: ComparisonOptions
) -> list[Pair]:
    """Return the tested pairs of a dataset with intervals, effect sizes and detectable differences."""
    indices = _system_pairs(grid, dataset)
    differences = [np.nan if pair.difference is None else pair.difference for pair in tested_pairs]
    estimates = samples.estimate_differences(differences, indices, options.alpha)
    pairs = []
    for pair, index_pair, estimate, error in zip(
        tested_pairs, indices, estimates, samples.standard_errors(indices), strict=True
    ):
        additive_a, additive_b = (grid.additive_scores[dataset][name] for name in (pair.system_a, pair.system_b))
        if additive_a is None or additive_b is None or pair.difference is None:
            pairs.append(pair)
            continue
        if estimate.low is None:
            error = None  # a single document gives no estimate of the variance
        reason = pair.reason or _explain_undetectable(error, samples.count_documents(index_pair), options)
        pairs.append(
            replace(
                pair,
                low=estimate.low,
                high=estimate.high,
                effect=effect_size(additive_a, additive_b),
                detectable=None
                if reason is not None or error is None
                else detectable_difference(error, confidence=1 - options.alpha, power=options.power),
                standard_error=error,
                reason=reason,
            )
        )
    return pairs


def _explain_undetectable(error: float | None, n_documents: int, options: ComparisonOptions) -> str | None:
    """Return why no difference is detectable on so many documents that contribute to the scores; None if one is.

    `error` is the standard error of the difference.
    """
    if not error:
        return "the systems do not differ on enough documents to estimate the standard error"
    if options.test == "permutation" and smallest_permutation_p(n_documents) > options.alpha:
        return (
            f"{format_count(n_documents, 'document')} allow no p-value below {smallest_permutation_p(n_documents):.3g}"
        )
    return None


def pair_test(
    grid: Grid, dataset: str, indices: tuple[int, int], options: ComparisonOptions
) -> SignificanceTest | None:
    """Test whether two systems, given by their indices, differ on a dataset; None if a score is not a function of sums.

    If the scores are not exchangeable, a permutation test flips signs regardless of `options.permute`.
    """
    additive_a, additive_b = (
        grid.additive_scores[dataset].get(grid.systems[index]) for index in grid.sort_by_name(indices)
    )
    if additive_a is None or additive_b is None:
        return None
    seed = grid.derive_seed(dataset, options.seed)
    if options.test == "bootstrap":
        return bootstrap_test(additive_a, additive_b, resamples=options.permutations, seed=seed)
    scheme = options.permute if is_exchangeable([additive_a, additive_b]) else "signs"
    return permutation_test(additive_a, additive_b, scheme=scheme, trials=options.permutations, seed=seed)


def is_exchangeable(scores: Sequence[AdditiveScore]) -> bool:
    """Return whether all scores are the same function of sums, so that outputs can be swapped between systems.

    Scores computed from moments around a centre that depends on the system are not.
    """
    first = scores[0]
    return all(
        np.isclose(first.from_totals(score.totals[None])[0], score.value, equal_nan=True) for score in scores[1:]
    )


def _build_dataset(
    grid: Grid, name: str, pairs: tuple[Pair, ...], samples: Samples, options: ComparisonOptions
) -> DatasetScores:
    """Return all scores and tests on a dataset; `pairs` are its tested pairs."""
    row = grid.cells[name]
    detectable = sorted(pair.detectable for pair in pairs if pair.detectable is not None)
    return DatasetScores(
        name=name,
        data=next(iter(row.values())).entry.data_signature,
        documents=len(next(iter(row.values())).result.ids),
        mentions=mean_mention_count(grid, name),
        is_averaged=name in grid.common_datasets,
        scores={system: _build_score(grid, system, cell, pairs, samples, options) for system, cell in row.items()},
        pairs=pairs,
        detectable=ValueRange(detectable[0], float(np.median(detectable)), detectable[-1]) if detectable else None,
    )


def _build_score(
    grid: Grid, system: str, cell: GridCell, pairs: Sequence[Pair], samples: Samples, options: ComparisonOptions
) -> SystemScore:
    """Return a system's score with interval, and its rank according to the tested `pairs`."""
    index = grid.systems.index(system)
    score = cell.score(grid.measure)
    is_oracle = cell.result.is_selected_on_corpus or cell.result.has_oracle_threshold(grid.measure)
    if score.value is None:
        return SystemScore(
            None,
            None,
            None,
            None,
            differs_from_all=False,
            **cell.result.complete_usage,
            reason=score.reason,
            is_oracle=is_oracle,
        )
    estimate = Estimate(score.value)
    if index in samples.additives:
        estimate = samples.estimate(score.value, samples.get_scores([index])[:, 0], [index], options.alpha)
    system_pairs = [pair for pair in pairs if system in (pair.system_a, pair.system_b)]
    better_systems = [pair.better_system(options.alpha) for pair in system_pairs]
    has_test = any(pair.p is not None for pair in system_pairs)
    return SystemScore(
        estimate.value,
        estimate.low,
        estimate.high,
        rank=1 + sum(winner not in (None, system) for winner in better_systems) if has_test else None,
        differs_from_all=has_test and None not in better_systems,
        **cell.result.complete_usage,
        reason=None if has_test else "no pair could be tested",
        is_oracle=is_oracle,
    )


def mean_mention_count(grid: Grid, dataset: str) -> float | None:
    """Return the number of gold mentions scored on a dataset, averaged over the systems; None if unknown.

    For a measure of a group, these are the mentions of the group.
    """
    name = grid.measure_name
    counts = [_count_mentions(cell.result, name) for cell in grid.cells[dataset].values()]
    known_counts = [count for count in counts if count is not None]
    return sum(known_counts) / len(known_counts) if known_counts else None


def _count_mentions(result: Result, name: MeasureName) -> float | None:
    """Return the number of gold mentions that a measure counts; None if unknown."""
    view = str(name.view)
    if name.group is not None:
        facet, value = name.group
        scores = result.groups.get(facet, {}).get(view, {}).get(value)
        counts = None if scores is None else scores.counts
        return None if counts is None else counts.matched_gold + counts.unmatched_gold
    statistics = {**result.views, **result.totals}.get(view)
    return None if statistics is None else float(statistics.gold.sum())


def list_test_notes(datasets: Sequence[DatasetScores], options: ComparisonOptions) -> list[str]:
    """Return the warnings about what the significance tests can find."""
    return [
        *document_warnings(datasets, options),
        *permutation_warnings(datasets, options),
        *random_verdict_warnings(datasets, options),
        *sample_size_warnings(datasets, options),
    ]


def sample_size_warnings(datasets: Sequence[DatasetScores], options: ComparisonOptions) -> list[str]:
    """Return a warning that names datasets with too few documents for the bootstrap test; empty if there are none."""
    small = [dataset.name for dataset in datasets if dataset.documents < _MIN_DOCUMENTS]
    if options.test != "bootstrap" or not small:
        return []
    return [f"with fewer than {_MIN_DOCUMENTS} documents the bootstrap finds differences too often: {', '.join(small)}"]


def document_warnings(datasets: Sequence[DatasetScores], options: ComparisonOptions) -> list[str]:
    """Return a note for each number of documents that is too small for any p-value to survive the correction.

    In a permutation test of n documents no p-value is below 2^(1 - n). Holm's correction multiplies the smallest
    p-value by the number of tests.
    """
    n_tests = sum(pair.p is not None for dataset in datasets for pair in dataset.pairs)
    if options.test != "permutation" or not n_tests:
        return []
    alpha = options.alpha / n_tests if options.correction == "holm" else options.alpha
    need = f"{format_count(n_tests, 'test')} at alpha {options.alpha:g} need{'s' * (n_tests == 1)}"
    return [
        f"no difference on {dataset.name} can be significant: {format_count(dataset.documents, 'document')} allow no "
        f"p-value below {smallest_permutation_p(dataset.documents):.3g}; {need} {fewest_documents(alpha)} documents"
        for dataset in datasets
        if dataset.pairs and smallest_permutation_p(dataset.documents) > alpha
    ]


def permutation_warnings(datasets: Sequence[DatasetScores], options: ComparisonOptions) -> list[str]:
    """Return a warning if too few permutations are drawn for any p-value to survive the correction.

    Returns an empty list otherwise.
    """
    n_tests = sum(pair.p is not None and not pair.is_exact for dataset in datasets for pair in dataset.pairs)
    warning = options.permutation_warning(n_tests)
    return [] if warning is None else [warning]


def random_verdict_warnings(datasets: Sequence[DatasetScores], options: ComparisonOptions) -> list[str]:
    """Return a note that names pairs whose verdict another seed may change; empty if there are none.

    The 95 % interval of their p-value, which random draws estimate, contains the significance level after correction.
    """
    names = [
        f"{pair.system_a} − {pair.system_b} on {dataset.name} (corrected p {pair.corrected:.4f})"
        for dataset in datasets
        for pair in dataset.pairs
        if _is_random_verdict(pair, options)
    ]
    if not names:
        return []
    draws = f"{options.permutations} {TESTS[options.test]}"
    return [
        f"too close to alpha {options.alpha:g} for {draws}, another seed may change the verdict: {', '.join(names)}. "
        f"Use {format_option('permutations', 100 * options.permutations)}"
    ]


def _is_random_verdict(pair: Pair, options: ComparisonOptions) -> bool:
    """Return whether the corrected p-value differs from the significance level by no more than the error of draws."""
    if pair.p is None or pair.corrected is None or pair.is_exact:
        return False
    error: float = (pair.p * (1 - pair.p) / options.permutations) ** 0.5
    return abs(pair.corrected - options.alpha) <= normal_quantile(0.975) * error * pair.corrected / pair.p
