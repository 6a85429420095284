"""Comparison of several systems on one or several datasets, with significance tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np

from karat.analysis.comparison.entries import (
    Entry,
    mark_selected,
    shared_text_warnings,
    text_digests,
    unchecked_text_notes,
)
from karat.analysis.comparison.flips import (
    DetectionStats,
    Flips,
    MentionsBySystem,
    check_facets,
    collect_mentions,
    pooled_flips,
)
from karat.analysis.comparison.grid import Grid, build_grid
from karat.analysis.comparison.linking_loss import LinkingLosses, measure_linking_losses
from karat.analysis.comparison.mean_usage import MeanUsage, average_usage
from karat.analysis.comparison.means import Mean, MeanPair, compute_means, test_mean_pairs
from karat.analysis.comparison.options import ComparisonOptions
from karat.analysis.comparison.overfitting import OverfittingIndex, overfitting_indices
from karat.analysis.comparison.rank_sensitivity import RankSensitivity, rank_under_profiles
from karat.analysis.comparison.samples import build_samples
from karat.analysis.comparison.significance import (
    DatasetScores,
    list_test_notes,
    score_datasets,
)
from karat.analysis.comparison.similarity.pooled import Similarities, compute_similarities
from karat.evaluation.request import Request
from karat.kb.protocol import KB
from karat.matching.read.facet_titles import get_value_titles
from karat.model.results.display import ChartDisplay, TableDisplay
from karat.model.results.result import WARNING, IdHealth
from karat.model.signature import Signature
from karat.model.spec.external_access import training_metadata
from karat.stats.significance.friedman import compute_ranks, critical_difference, find_rank_groups, friedman

SIMILARITY_RELATIONS: Final = "strong,weak,mention-weak,entity"
"""Match relations under which systems are compared with each other, unless others are named."""


@dataclass(frozen=True, slots=True)
class ComparisonExtras:
    """Optional parts of a comparison."""

    similarity: str | None = None
    """Match relations under which the systems' predictions are compared with each other, separated by commas."""
    best_threshold: str | None = None
    """Sweep that sets each system's threshold for `similarity`, such as `oracle`."""
    developed_on: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By system, the datasets that it was developed on."""
    sensitivity: bool = False
    """Whether to rank the systems under all profiles."""
    linking_loss: bool = False
    """Whether to compare F1 of detection with F1 of linking."""
    selected_on: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By system, the datasets on which its variant was selected."""

    @property
    def relations(self) -> str | None:
        """Match relations of the similarity, separated by commas; `best_threshold` alone uses the default ones."""
        return self.similarity or (None if self.best_threshold is None else SIMILARITY_RELATIONS)


@dataclass(frozen=True, slots=True)
class Ranks:
    """Mean ranks over the averaged datasets, after Demšar (2006)."""

    means: Mapping[str, float]
    """Mean rank by system, the best first. On a dataset, equal scores share the mean of their ranks."""
    datasets: int
    """Number of datasets."""
    statistic: float
    """Friedman's statistic: whether any system differs."""
    p: float
    """P-value of Friedman's test."""
    difference: float
    """Critical difference of Nemenyi's test."""
    groups: tuple[tuple[str, ...], ...]
    """Groups of systems whose mean ranks differ by no more than `difference`."""


@dataclass(frozen=True, slots=True)
class Comparison(TableDisplay, ChartDisplay):
    """Scores, tests and further analyses of several systems on one or several datasets."""

    _page: ClassVar = "karat.render.comparison"
    _charts: ClassVar = "karat.render.charts.comparison"

    def __repr__(self) -> str:
        datasets = ", ".join(dataset.name for dataset in self.datasets)
        return f"<Comparison of {', '.join(self.systems)} on {datasets}: {self.measure}>"

    measure: str
    """Measure that is compared."""
    profile: str
    """Profile under which systems are scored."""
    systems: tuple[str, ...]
    """Systems by their unweighted mean, the best first."""
    titles: Mapping[str, str]
    """Title by system, if the manifests of all its runs agree on one."""
    datasets: tuple[DatasetScores, ...]
    """Scores and pairwise tests on each dataset."""
    excluded: Mapping[str, str]
    """Datasets excluded from averages, with the reason."""
    means: Mapping[str, Mean]
    """Averages over datasets, by system."""
    pairs: tuple[MeanPair, ...]
    """Differences between averages, for each pair of systems."""
    ranks: Ranks | None
    """Mean ranks; None with fewer than two datasets."""
    detection: Mapping[str, Mapping[str, DetectionStats]]
    """By dataset and system, detection and linking of individual mentions."""
    flips: tuple[Flips, ...]
    """Flips of each pair of systems, pooled over the datasets in `mentions`."""
    overfitting: tuple[OverfittingIndex, ...]
    """Overfitting index of each system with a known development dataset."""
    usage: Mapping[str, MeanUsage]
    """Mean runtime (`seconds`), `tokens` and `cost` of the systems, as far as their files state them."""
    similarity: Similarities | None
    """Similarity of the systems' predictions, if requested."""
    sensitivity: RankSensitivity | None
    """Ranking under all profiles, if requested."""
    linking_loss: LinkingLosses | None
    """Loss from detection to linking, if requested."""
    id_health: Mapping[str, IdHealth]
    """Statistics on the spelling of predicted ids, by system."""
    skipped: Mapping[str, Mapping[str, Mapping[str, int]]]
    """By dataset and system, counts of what was skipped or repaired, as in results; without empty counts."""
    notes: tuple[str, ...]
    """Warnings to read before trusting the numbers, and what was skipped."""
    options: ComparisonOptions
    """Options of the comparison."""
    signature: Signature
    """Signature shared by all evaluations."""
    value_titles: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """By facet, the titles of the values by which flips are counted, and of the group whose scores are compared."""
    mentions: tuple[MentionsBySystem, ...] = field(default=(), repr=False)
    """Mentions of the averaged datasets for which gold and the predictions of all systems are available."""

    @property
    def averaged_datasets(self) -> tuple[str, ...]:
        """The names of the datasets over which averages are taken."""
        return tuple(dataset.name for dataset in self.datasets if dataset.is_averaged)

    @property
    def pooled_detection(self) -> dict[str, DetectionStats]:
        """The detection statistics of each system, summed over all datasets in `detection`."""
        totals: dict[str, DetectionStats] = {}
        for row in self.detection.values():
            for system, stats in row.items():
                totals[system] = totals[system].merge(stats) if system in totals else stats
        return totals


def compare(
    entries: Iterable[Entry],
    request: Request | None = None,
    options: ComparisonOptions | None = None,
    extras: ComparisonExtras | None = None,
    *,
    measure: str | None = None,
) -> Comparison:
    """Score every system on every dataset, test all pairs and return the comparison.

    Systems and datasets are identified by name, documents by id. All systems on a dataset must have the same
    documents. Averages are over the datasets on which all systems have a score. The order of `entries` does not
    matter. Flips are counted by the facets of `request`. Results are used as scored.
    """
    options, extras = options or ComparisonOptions(), extras or ComparisonExtras()
    check_facets(() if request is None else request.requested_facets)
    table = build_grid(mark_selected(entries, extras.selected_on), request, measure).sort_systems()
    samples = {name: build_samples(table, name, options) for name in table.datasets}
    datasets = score_datasets(table, samples, options)
    averages = compute_means(table, samples, options)
    mentions = [m for name in table.common_datasets if (m := collect_mentions(table, name)) is not None]
    detection = {m.dataset: stats for m in mentions if (stats := m.detection_stats()) is not None}
    flips = pooled_flips(mentions, table.systems, table.facets)
    match = extras.relations
    similarity = None if match is None else compute_similarities(table, match, extras.best_threshold)
    return Comparison(
        measure=table.measure,
        profile=table.results[0].profile,
        systems=table.systems,
        titles=_collect_titles(table),
        datasets=datasets,
        excluded=table.excluded,
        means=averages,
        pairs=test_mean_pairs(table, samples, datasets, options),
        ranks=_rank_systems(table, options),
        detection=detection,
        flips=flips,
        overfitting=overfitting_indices(table, samples, extras.developed_on, options),
        usage=average_usage(table),
        similarity=similarity,
        sensitivity=rank_under_profiles(table, options) if extras.sensitivity else None,
        linking_loss=measure_linking_losses(table, options) if extras.linking_loss else None,
        id_health=table.id_health,
        skipped=_collect_skipped(table),
        notes=tuple(sorted(_collect_notes(table, datasets, mentions, options), key=lambda note: WARNING not in note)),
        options=options,
        signature=table.signature,
        value_titles=_find_value_titles(table, flips, None if request is None else request.kb),
        mentions=tuple(mentions),
    )


def _find_value_titles(table: Grid, flips: Iterable[Flips], kb: KB | None) -> dict[str, dict[str, str]]:
    """Return by facet the titles of the values by which flips are counted, and of the group of the measure."""
    values: dict[str, dict[str, None]] = {}
    groups = [] if table.measure_name.group is None else [table.measure_name.group]
    groups += [(facet, value) for pair in flips for facet, counts in pair.by.items() for value in counts]
    for facet, value in groups:
        values.setdefault(facet, {})[value] = None
    return {facet: get_value_titles(facet, [*names], kb) for facet, names in values.items()}


def _collect_skipped(table: Grid) -> dict[str, dict[str, Mapping[str, int]]]:
    """Return by dataset and system what was skipped or repaired, with counts; only systems with any."""
    counts = {
        name: {system: cell.result.skipped for system, cell in row.items() if cell.result.skipped}
        for name, row in table.cells.items()
    }
    return {name: row for name, row in counts.items() if row}


def _collect_titles(table: Grid) -> dict[str, str]:
    """Return the title of each system whose entries, as far as they state a title, all state the same."""
    titles_by_system: dict[str, set[str]] = {}
    for row in table.cells.values():
        for system, cell in row.items():
            titles_by_system.setdefault(system, set()).update([cell.entry.title] if cell.entry.title else [])
    return {system: next(iter(titles)) for system, titles in sorted(titles_by_system.items()) if len(titles) == 1}


def _rank_systems(table: Grid, options: ComparisonOptions) -> Ranks | None:
    """Return mean ranks with Friedman's and Nemenyi's tests, or None for fewer than two averaged datasets."""
    if len(table.common_datasets) < 2:
        return None
    values = np.stack([table.values(name) for name in table.common_datasets])
    rank_matrix = compute_ranks(-values if table.lower_is_better else values)
    mean_ranks = rank_matrix.mean(axis=0).tolist()
    difference = critical_difference(len(mean_ranks), len(table.common_datasets), 1 - options.alpha)
    friedman_test = friedman(rank_matrix)
    order = sorted(zip(table.systems, mean_ranks, strict=True), key=lambda item: (item[1], item[0]))
    return Ranks(
        means=dict(order),
        datasets=len(table.common_datasets),
        statistic=friedman_test.statistic,
        p=friedman_test.p,
        difference=difference,
        groups=tuple(
            tuple(table.systems[index] for index in group) for group in find_rank_groups(mean_ranks, difference)
        ),
    )


def _collect_notes(
    table: Grid, datasets: Sequence[DatasetScores], mentions: Sequence[MentionsBySystem], options: ComparisonOptions
) -> Iterable[str]:
    """Yield warnings to read before trusting the numbers, such as texts in common or missing mentions."""
    corpora = {name: table.corpus(name) for name in table.common_datasets}
    yield from shared_text_warnings(
        {name: text_digests(corpus) for name, corpus in corpora.items() if corpus is not None}
    )
    files = {name for name, corpus in corpora.items() if corpus is None}
    yield from unchecked_text_notes({name: table.document_ids(name) for name in corpora}, files)
    yield from list_test_notes(datasets, options)
    yield from _untestable_notes(table)
    yield from _missing_mention_notes(table, {m.dataset for m in mentions})
    differing = {m.dataset: m.n_differing for m in mentions if m.n_differing}
    if differing:
        counts = ", ".join(f"{count} of {name}" for name, count in differing.items())
        yield f"mentions that count for some systems only, and are not compared individually: {counts}"
    yield from _variant_notes(table)
    yield from _training_notes(table)
    yield from _mention_notes(table)
    yield from table.list_run_notes()


def _missing_mention_notes(table: Grid, datasets: Set[str]) -> Iterable[str]:
    """Yield a note for each reason why datasets are not in `datasets`, those with individual mentions."""
    datasets_by_reason: dict[str, list[str]] = {}
    for dataset in table.common_datasets:
        if dataset not in datasets:
            has_results = any(cell.evaluation is None for cell in table.cells[dataset].values())
            reason = (
                "a measure of a group"
                if table.measure_name.group
                else "result files: pass the gold file and the predictions"
                if has_results
                else "a task without mentions"
            )
            datasets_by_reason.setdefault(reason, []).append(dataset)
    for reason, names in datasets_by_reason.items():
        yield f"no individual mentions ({reason}): {', '.join(names)}"


def _untestable_notes(table: Grid) -> Iterable[str]:
    """Yield a note for each reason why scores on some datasets cannot be resampled."""
    datasets_by_reason: dict[str, list[str]] = {}
    for dataset, row in table.additive_scores.items():
        cells = [table.cells[dataset][system] for system, additive in row.items() if additive is None]
        reasons = [
            cell.explain_missing_sums(table.measure) for cell in cells if cell.score(table.measure).value is not None
        ]
        for reason in dict.fromkeys(reasons):
            datasets_by_reason.setdefault(reason, []).append(dataset)
    for reason, datasets in datasets_by_reason.items():
        yield f"no intervals or tests of {table.measure} on {', '.join(sorted(datasets))}: {reason}"


def _variant_notes(table: Grid) -> Iterable[str]:
    """Yield a note for each system with several compared variants (`SYSTEM@VARIANT`)."""
    variants: dict[str, list[str]] = {}
    for system in table.systems:
        name, at, variant = system.partition("@")
        if name and at:
            variants.setdefault(name, []).append(variant)
    for name, names in variants.items():
        if len(names) > 1:
            prefix = f"{name} has {len(names)} variants here ({', '.join(names)})"
            yield f"{prefix}: the score of the best variant is an oracle score"


def _mention_notes(table: Grid) -> Iterable[str]:
    """Yield a note for each dataset on which some systems linked given mentions and others detected theirs."""
    for dataset, row in table.cells.items():
        systems = {
            source: [system for system, cell in row.items() if cell.result.run_metadata.get("mentions") == source]
            for source in ("gold", "detected")
        }
        if all(systems.values()):
            linkers, detectors = (", ".join(names) for names in systems.values())
            sources = f"{linkers} linked given mentions, {detectors} detected mentions"
            yield f"scores on {dataset} cannot be compared: {sources}"


def _training_notes(table: Grid) -> Iterable[str]:
    """Yield a note for each training detail in the manifests that differs between systems."""
    details_by_system: dict[str, dict[str, str]] = {}
    for row in table.cells.values():
        for system, cell in row.items():
            details_by_system.setdefault(system, {}).update(training_metadata(cell.result.run_metadata))
    for name in dict.fromkeys(name for details in details_by_system.values() for name in details):
        systems_by_value: dict[str, list[str]] = {}
        for system in table.systems:
            systems_by_value.setdefault(details_by_system.get(system, {}).get(name, "not stated"), []).append(system)
        if len(systems_by_value) > 1:
            differing = "; ".join(f"{', '.join(systems)}: {value}" for value, systems in systems_by_value.items())
            yield f"systems differ in their training ({name}): {differing}"
