"""Sensitivity of the ranking to the profile: the same predictions scored under many profiles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

import numpy as np
import pyarrow.compute as pc

from karat.analysis.comparison.grid import Grid
from karat.analysis.comparison.options import ComparisonOptions
from karat.analysis.comparison.samples import Estimate, build_samples, count_contributing_documents, estimate
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.measures import resolve_measure
from karat.evaluation.request import Request
from karat.kb.ids.normal_forms import NORMALISERS
from karat.matching.weighting.membership import WHOLE
from karat.model.corpus import Corpus
from karat.model.errors import KaratError, UsageError
from karat.model.finegrained_scheme import NODES
from karat.model.measure_name import parse_measure
from karat.model.output.command_options import format_option, format_setting
from karat.model.output.progress import track_progress
from karat.model.profile_signatures import get_profile
from karat.model.registry import list_plugins
from karat.model.spec.settings.conventions import Nil, Typing
from karat.model.spec.settings.settings import Conventions
from karat.model.spec.settings.threshold import SWEEPS
from karat.model.tables.columns import Floats

RELATIONS: Final = ("strong", "weak", "mention", "mention-weak", "entity")
"""Match relations that are tried with every profile, besides the profile's own."""

ALPHAS: Final = (0.0, 0.25, 0.5, 0.75)
"""Weights of mentions outside the strict scheme, tried if gold has categories; 1 is the unweighted score."""

_VARIABLE_PARTS: Final = re.compile(r"'[^']*'|[0-9]+")
"""Ids and numbers, which differ between notes of the same kind."""


@dataclass(frozen=True, slots=True)
class Leader:
    """The leading systems under one profile, relation, membership and threshold rule.

    Scores are averaged over datasets, each of which counts equally.
    """

    profile: str
    """Profile."""
    relation: str
    """Match relation."""
    membership: str
    """Weighting of mentions."""
    threshold: str
    """Threshold rule."""
    leaders: tuple[str, ...]
    """Systems with the highest score; several if their scores are equal."""
    score: Estimate
    """Mean score of the first system."""
    runner_up: str
    """System in second place."""
    margin: Estimate
    """Mean score of the first system minus that of `runner_up`."""
    is_separable: bool
    """Whether the interval of `margin` excludes 0. This is one test per row, without correction."""
    by_dataset: Mapping[str, tuple[str, ...]]
    """Leaders on each dataset on which all systems have scores."""
    scores: Mapping[str, float]
    """Mean score by system."""


@dataclass(frozen=True, slots=True)
class InapplicableProfile:
    """A profile that does not apply to some datasets, so that it ranks no systems there."""

    profile: str
    """Profile."""
    membership: str
    """Weighting of mentions."""
    threshold: str
    """Threshold rule."""
    datasets: tuple[str, ...]
    """Datasets to which it does not apply."""
    reason: str
    """Reason."""


@dataclass(frozen=True, slots=True)
class RankSensitivity:
    """Leading systems under many profiles."""

    leaders: tuple[Leader, ...]
    """One row per profile, relation, membership and threshold rule."""
    datasets: tuple[str, ...]
    """Datasets over which scores are averaged."""
    evaluations: int
    """Number of evaluations that were computed."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Combinations that could not be scored, with the reason."""
    notes: Mapping[str, int] = field(default_factory=dict)
    """Notes of the evaluations, with their frequency."""
    inapplicable: tuple[InapplicableProfile, ...] = ()
    """Profiles that can be computed but are meaningless on some datasets."""

    @property
    def wins(self) -> dict[str, int]:
        """The number of rows that each system leads, alone or tied, the largest first."""
        counts: dict[str, int] = {}
        for name in (name for row in self.leaders for name in row.leaders):
            counts[name] = counts.get(name, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True, slots=True)
class _Combination:
    """A profile with a membership and a threshold rule, scored at once under several relations."""

    profile: str
    membership: str
    threshold: str
    measures: tuple[str, ...] = ()

    def build_request(self, base: Request, measures: Sequence[str] = ()) -> Request:
        """Return the request for this combination with `measures`, or the profile's own.

        Settings, KB and `allow_unknown` of `base`, the request of the comparison, take precedence. The setting
        `prefixes` is dropped if the profile does not use it.
        """
        sweep = get_profile(self.profile).settings["threshold"]
        oracle = sweep if sweep in SWEEPS else "oracle"
        defaults = {
            "threshold": oracle if self.threshold == "oracle" else self.threshold,
            "membership": self.membership,
        }
        ignored = () if self.uses_prefixes else ("prefixes",)  # only such profiles use prefixes
        settings = {name: value for name, value in base.overrides.items() if name not in ignored}
        return Request.from_options(
            profile=self.profile,
            settings={**defaults, **settings},
            measures=measures,
            kb=base.kb,
            allow_unknown=base.allow_unknown,
        )

    def format_name(self, measure: str) -> str:
        """Return the name of this combination with the relation of `measure`, for messages."""
        parts = [self.membership] * (self.membership != WHOLE) + [self.threshold] * (self.threshold != "none")
        return ", ".join([self.profile, measure.partition(":")[0], *parts])

    @property
    def uses_prefixes(self) -> bool:
        """Whether the profile compares id prefixes."""
        conventions = Conventions.from_settings(get_profile(self.profile).settings)
        return conventions.nil is Nil.EMERGING or conventions.typing is Typing.SUBCLASSES


class _Attempts:
    """Counter of evaluations, with the failures and notes that occurred."""

    def __init__(self) -> None:
        self.evaluations = 0
        self.failures: dict[str, str] = {}
        self.notes: dict[str, int] = {}

    def evaluate(self, grid: Grid, dataset: str, system: str, request: Request) -> Evaluation:
        """Evaluate a system on a dataset under a request and count the evaluation.

        Errors in scoring are raised here.
        """
        entry = grid.cells[dataset][system].entry
        assert entry.corpus is not None
        assert entry.run is not None
        self.evaluations += 1
        evaluation = Evaluation.from_data(request, entry.corpus, entry.run)
        _ = evaluation.result  # computed now, so that errors are raised here
        return evaluation

    def add_notes(self, combination: _Combination, evaluations: Iterable[Evaluation]) -> None:
        """Add the notes of evaluations to the counts; notes that differ only in ids and numbers count as one."""
        for note in (note for evaluation in evaluations for note in evaluation.result.notes if "oracle" not in note):
            kind = f"{combination.profile}: {_VARIABLE_PARTS.sub('…', note)}"
            self.notes[kind] = self.notes.get(kind, 0) + 1


def rank_under_profiles(grid: Grid, options: ComparisonOptions) -> RankSensitivity:
    """Rank the systems under every profile, relation, membership and threshold rule that the data allow.

    Raises `UsageError` if no dataset has scores of all systems, or for results, which cannot be scored again.
    """
    if not grid.common_datasets:
        raise UsageError("no dataset has scores of all systems. Pass the predictions of all systems for one dataset.")
    if any(grid.cells[name][system].entry.run is None for name in grid.common_datasets for system in grid.systems):
        raise UsageError(
            "rank sensitivity rescores predictions, and result files contain none. Pass gold and predictions."
        )
    attempts, leaders, inapplicable = _Attempts(), list[Leader](), list[InapplicableProfile]()
    combinations = list(_yield_combinations(grid))
    with track_progress("ranking systems, profiles", len(combinations)) as advance:
        for combination in combinations:
            unknown = _find_datasets_without_prefix(grid, combination)
            if unknown:
                inapplicable.append(_record_inapplicable(grid, combination, unknown, attempts))
            datasets = tuple(name for name in grid.common_datasets if name not in unknown)
            leaders += _rank_combination(grid, combination, datasets, attempts, options)
            advance(1)
    return RankSensitivity(
        tuple(leaders),
        grid.common_datasets,
        attempts.evaluations,
        attempts.failures,
        attempts.notes,
        tuple(inapplicable),
    )


def _record_inapplicable(
    grid: Grid, combination: _Combination, unknown: tuple[str, ...], attempts: _Attempts
) -> InapplicableProfile:
    """Add the failure of a combination on the datasets `unknown` to `attempts`, and return it with the reason."""
    reason = (
        "no gold id starts with a prefix of its knowledge base, so any two ids would match: compare with "
        f"{format_option('profile', combination.profile)} and {format_setting('prefixes', '…')}"
    )
    suffix = "" if unknown == grid.common_datasets else f" on {', '.join(unknown)}"
    attempts.failures[f"{combination.profile}{suffix}"] = reason
    return InapplicableProfile(combination.profile, combination.membership, combination.threshold, unknown, reason)


def _rank_combination(
    grid: Grid, combination: _Combination, datasets: tuple[str, ...], attempts: _Attempts, options: ComparisonOptions
) -> list[Leader]:
    """Return the leader under each relation of a combination, on the datasets to which it applies.

    Empty without `datasets`, or if no measure can be scored. Counts and failures are added to `attempts`.
    """
    applicable = _add_applicable_measures(grid, combination, datasets, attempts) if datasets else combination
    return _rank_datasets(grid, applicable, datasets, attempts, options) if applicable.measures else []


def _yield_combinations(grid: Grid) -> Iterator[_Combination]:
    """Yield every profile with every membership and threshold rule that may change the ranking.

    Memberships vary only if gold has categories, thresholds only if predictions have scores. A value that the
    comparison sets is fixed.
    """
    memberships = [WHOLE, *(f"strict:{alpha:g}" for alpha in ALPHAS)] if _has_categories(grid) else [WHOLE]
    thresholds = ["none", "oracle"] if _has_scores(grid) else ["none"]
    fixed = grid.request.overrides
    memberships = [fixed["membership"]] if "membership" in fixed else memberships
    thresholds = [fixed["threshold"]] if "threshold" in fixed else thresholds
    for profile, membership, threshold in product(list_distinct_profiles(), memberships, thresholds):
        yield _Combination(profile, membership, threshold)


def list_distinct_profiles() -> list[str]:
    """Return the names of the profiles that differ in some setting besides `match`; of equal ones the first."""
    profile_by_settings: dict[tuple[tuple[str, str], ...], str] = {}
    for name in list_plugins("profiles"):
        settings = {**get_profile(name).settings, "match": ""}
        profile_by_settings.setdefault(tuple(sorted(settings.items())), name)
    return list(profile_by_settings.values())


def _find_datasets_without_prefix(grid: Grid, combination: _Combination) -> tuple[str, ...]:
    """Return the common datasets in which no gold id starts with a prefix of the profile.

    Empty unless the profile recognises emerging entities by their prefix.
    """
    try:
        request = combination.build_request(grid.request)
    except KaratError:  # reported for each relation later
        return ()
    corpora = {name: grid.corpus(name) for name in grid.common_datasets}
    return tuple(name for name, corpus in corpora.items() if corpus is not None and lacks_known_ids(request, corpus))


def lacks_known_ids(request: Request, corpus: Corpus) -> bool:
    """Return whether a request recognises emerging entities by prefix, and no gold id of `corpus` has a known prefix.

    Then any two ids would match, and scores are meaningless.
    """
    prefixes, kb, ids_setting = request.conventions.prefixes, request.kb, request.conventions.ids
    if request.conventions.nil is not Nil.EMERGING or prefixes is None:
        return False
    ids = corpus.labels.names.to_pylist()
    normalised = kb.canonical_ids(ids) if ids_setting.uses_kb and kb is not None else ids
    if ids_setting in NORMALISERS:
        normalised = map(NORMALISERS[ids_setting].normalise, normalised)
    return bool(ids) and not any(id.startswith(prefixes) for id in normalised)


def _has_categories(grid: Grid) -> bool:
    """Return whether every gold standard has categories of the fine-grained scheme, which memberships weigh by."""
    columns = [
        corpus.labels.field("categories") for name in grid.common_datasets if (corpus := grid.corpus(name)) is not None
    ]
    return all(
        column is not None and not NODES.keys().isdisjoint(pc.unique(column.flatten()).to_pylist())
        for column in columns
    )


def _has_scores(grid: Grid) -> bool:
    """Return whether any run has scores of predictions."""
    runs = [grid.cells[name][system].entry.run for name in grid.common_datasets for system in grid.systems]
    return any(run.predictions.field("score") is not None for run in runs if run is not None)


def _add_applicable_measures(
    grid: Grid, combination: _Combination, datasets: Sequence[str], attempts: _Attempts
) -> _Combination:
    """Return the combination with the micro F1 measures that can be scored, each tried with one system.

    The measures are tried on the smallest dataset. Evaluations and failures are added to `attempts`.
    """
    dataset = min(datasets, key=lambda name: (len(next(iter(grid.cells[name].values())).result.ids), name))
    profile_measures = [
        name for name in map(parse_measure, get_profile(combination.profile).measures) if name.short_name == "micro.f1"
    ]
    names = [
        str(name)
        for name in profile_measures
        if name.view.relation in list_plugins("relations") and not name.view.filters
    ]
    ungrouped = [name for name in names if "@" not in name]
    applicable = []
    for measure in dict.fromkeys([*ungrouped, *(f"{relation}:micro.f1" for relation in RELATIONS)]):
        try:
            attempts.evaluate(grid, dataset, grid.systems[0], combination.build_request(grid.request, [measure]))
        except KaratError as problem:
            attempts.failures[combination.format_name(measure)] = str(problem)
        else:
            applicable.append(measure)
    return replace(combination, measures=_distinct_measures(applicable, combination, grid.request))


def _distinct_measures(measures: Sequence[str], combination: _Combination, base: Request) -> tuple[str, ...]:
    """Return `measures` as the task of the combination resolves them, each once.

    `base` is the request of the comparison.
    """
    task = combination.build_request(base).conventions.task_name if measures else ""
    return tuple(dict.fromkeys(str(resolve_measure(measure, task)) for measure in measures))


def _rank_datasets(
    grid: Grid, combination: _Combination, datasets: Sequence[str], attempts: _Attempts, options: ComparisonOptions
) -> list[Leader]:
    """Return the leader under each measure of a combination, by mean score over `datasets`.

    Datasets and measures that cannot be scored are omitted and recorded in `attempts`.
    """
    evaluations: dict[str, dict[str, Evaluation]] = {}
    request = combination.build_request(grid.request, combination.measures)
    for dataset in datasets:
        try:
            row = {system: attempts.evaluate(grid, dataset, system, request) for system in grid.systems}
        except KaratError as problem:
            attempts.failures[f"{combination.profile} on {dataset}"] = str(problem)
            continue
        evaluations[dataset] = row
        attempts.add_notes(combination, row.values())
    leaders = []
    for measure in combination.measures:
        leader = _find_leader(grid.replace_evaluations(measure, request, evaluations), combination, options)
        if leader is None:
            reason = "no dataset has scores of all systems, or all scores are equal"
            attempts.failures[combination.format_name(measure)] = reason
        else:
            leaders.append(leader)
    return leaders


def _find_leader(grid: Grid, combination: _Combination, options: ComparisonOptions) -> Leader | None:
    """Return the leader under the measure of `grid`; None if no dataset has all scores, or all scores are equal."""
    defined = [name for name in grid.cells if not np.isnan(grid.values(name)).any()]
    if not defined or all(np.ptp(grid.values(name)) == 0 for name in defined):
        return None
    samples = [build_samples(grid, name, options) for name in defined]
    values = np.mean([grid.values(name) for name in defined], axis=0)
    # On ties the first by name, so that the order of files does not matter.
    first, second = sorted(range(len(values)), key=lambda index: (-values[index], index))[:2]
    differences = np.mean([np.subtract(*s.get_scores([first, second]).T) for s in samples], axis=0)
    first_scores = np.mean([s.get_scores([first])[:, 0] for s in samples], axis=0)
    margin = estimate(
        float(values[first] - values[second]),
        differences,
        count_contributing_documents(samples, [first, second]),
        options.alpha,
    )
    return Leader(
        profile=combination.profile,
        relation=grid.measure.partition(":")[0],
        membership=combination.membership,
        threshold=combination.threshold,
        leaders=_best_systems(grid, values),
        score=estimate(
            float(values[first]), first_scores, count_contributing_documents(samples, [first]), options.alpha
        ),
        runner_up=grid.systems[second],
        margin=margin,
        is_separable=margin.low is not None and margin.low > 0,
        by_dataset={name: _best_systems(grid, grid.values(name)) for name in defined},
        scores=dict(zip(grid.systems, values.tolist(), strict=True)),
    )


def _best_systems(grid: Grid, values: Floats) -> tuple[str, ...]:
    """Return the systems with the highest of `values`, which are in the order of the grid's systems.

    Several on ties.
    """
    return tuple(system for system, value in zip(grid.systems, values.tolist(), strict=True) if value == values.max())
