"""Scorecards: averages over datasets, and each system's strengths and weaknesses.

Averages are those of Tables 1 and 4 of Bast, Hertel and Prange, A Fair and In-Depth Evaluation of Existing End-to-End
Entity Linking Systems, EMNLP 2023.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, TypeAlias

import numpy as np

from karat.analysis.comparison.entries import Entry, shared_text_warnings
from karat.analysis.comparison.grid import build_grid
from karat.analysis.comparison.means import mean_p_values
from karat.analysis.comparison.options import ComparisonOptions
from karat.analysis.comparison.samples import estimate
from karat.analysis.comparison.scorecard.dataset_counts import DatasetFacts, detection_view_name
from karat.analysis.comparison.scorecard.figures import (
    ACCURACY,
    Figure,
    FigureFormula,
    ScorecardCounts,
    collect_counts,
    get_formula,
    list_figures,
)
from karat.evaluation.request import Request
from karat.model.output.progress import track_progress
from karat.model.results.display import TableDisplay
from karat.model.results.result import IdHealth
from karat.model.signature import Signature
from karat.model.spec.settings.user_terms import translate_view
from karat.model.tables.columns import Floats
from karat.stats.significance.contrast import mean_differences, mean_over_strata, resample_stratum
from karat.stats.significance.corrections import holm
from karat.stats.significance.one_against_others import swap_test

VIEW: Final = "strong"
"""View that is compared by default."""

Verdict: TypeAlias = Literal["strength", "weakness", "none", "too few"]
"""Whether a difference is a strength, a weakness, not significant, or based on too few cases."""

_MENTION_CATEGORIES = frozenset(
    {
        "disambiguation-demonym",
        "disambiguation-metonymy",
        "disambiguation-partial-name",
        "disambiguation-rare",
        "hyperlink",
    }
)
"""Categories that are named after the mentions in them, not after the error."""


@dataclass(frozen=True, slots=True)
class ScorecardOptions(ComparisonOptions):
    """Options of a scorecard, besides those of every comparison."""

    min_share: float = 0.02
    """Minimum share of linked mentions that are demonyms (metonyms), for a dataset to count for that category."""
    min_cases: int = 20
    """Minimum number of cases for a verdict."""
    min_effect: float = 0.01
    """Minimum absolute difference for a strength or weakness."""


@dataclass(frozen=True, slots=True)
class Average:
    """A figure of one system, averaged over datasets that count equally."""

    value: float | None
    """Mean; for a count, the mean number of errors. None if undefined."""
    cases: int
    """Number of cases: mentions for scores, possible errors for rates, errors for counts."""
    undecided: int = 0
    """Number of cases that cannot be decided, since facts are missing."""
    reason: str | None = None
    """Reason for a missing value."""
    min_value: float | None = None
    """The smallest mean rate that the known facts allow; None if all cases are decided."""
    max_value: float | None = None
    """The largest mean rate that the known facts allow; None if all cases are decided."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """A figure of one system minus the mean of the other systems."""

    value: float | None
    """Difference; for a count, in errors per mention. None if undefined."""
    low: float | None = None
    """Lower end of the confidence interval."""
    high: float | None = None
    """Upper end of the confidence interval."""
    p: float | None = None
    """P-value of the permutation test."""
    corrected: float | None = None
    """P-value corrected by Holm's method for all tests."""
    verdict: Verdict | None = None
    """Verdict; None if not tested."""
    reason: str | None = None
    """Reason for a missing value or verdict."""


@dataclass(frozen=True, slots=True)
class Scorecard:
    """Averages of one system, its differences from the other systems, and a summary."""

    system: str
    """Name of the system."""
    averages: Mapping[str, Average]
    """Average by figure."""
    differences: Mapping[str, Contrast]
    """Difference from the other systems, by figure."""
    summary: str
    """Strengths and weaknesses in words."""


@dataclass(frozen=True, slots=True)
class Scorecards(TableDisplay):
    """Scorecards of all systems."""

    _page: ClassVar = "karat.render.scorecard"

    def __repr__(self) -> str:
        systems = ", ".join(scorecard.system for scorecard in self.scorecards)
        return f"<Scorecards of {systems} on {', '.join(self.datasets)}: {self.view}>"

    scorecards: tuple[Scorecard, ...]
    """Scorecards, the highest F1 first."""
    figures: tuple[Figure, ...]
    """Figures in order."""
    datasets: tuple[str, ...]
    """Names of the datasets."""
    datasets_by_figure: Mapping[str, tuple[str, ...]]
    """By figure, the datasets over which it is averaged."""
    excluded: Mapping[str, str]
    """Datasets excluded from all averages, with the reason."""
    excluded_by_figure: Mapping[str, Mapping[str, str]]
    """By figure, the excluded datasets with the reason."""
    id_health: Mapping[str, IdHealth]
    """Statistics on the spelling of predicted ids, by system."""
    notes: tuple[str, ...]
    """Warnings."""
    options: ScorecardOptions
    """Options of the scorecards."""
    signature: Signature
    """Signature shared by all evaluations."""
    view: str = VIEW
    """View that is compared."""


def build_scorecards(
    entries: Iterable[Entry],
    request: Request | None = None,
    options: ScorecardOptions | None = None,
    *,
    view: str = VIEW,
) -> Scorecards:
    """Score every system on every dataset, average over the common datasets, and compare the systems.

    `view` is the linking view that is compared. A system is strong (weak) on a figure if the system is better (worse)
    than the mean of the other systems, and the difference is significant after correction, has an interval that
    excludes 0, and is at least `min_effect`. For the test see `karat.stats.significance.one_against_others.swap_test`.
    """
    view = translate_view(view)
    options, mention_view = options or ScorecardOptions(), detection_view_name(view)
    request = (request or Request.from_options()).replace(
        extra_measures=[f"{mention_view}:micro.f1"], needs_stages=True
    )
    grid = build_grid(entries, request, f"{view}:micro.f1", min_systems=1)
    counts = collect_counts(grid, view)
    figures = list_figures(view)
    excluded_by_figure = {figure.name: _find_excluded(figure, counts, options) for figure in figures}
    datasets_by_figure = {
        name: tuple(dataset for dataset in counts.datasets if dataset not in excluded)
        for name, excluded in excluded_by_figure.items()
    }
    averages = {figure.name: _compute_averages(figure, counts, datasets_by_figure[figure.name]) for figure in figures}
    differences = _compare_systems(figures, counts, datasets_by_figure, options)
    return Scorecards(
        scorecards=tuple(
            Scorecard(
                system,
                {name: item[index] for name, item in averages.items()},
                differences[system],
                _summarise(figures, differences[system]),
            )
            for index, system in sorted(
                enumerate(counts.systems), key=lambda item: (-_to_sort_key(averages["f1"][item[0]]), item)
            )
        ),
        figures=figures,
        datasets=counts.datasets,
        datasets_by_figure=datasets_by_figure,
        excluded=grid.excluded,
        excluded_by_figure={name: excluded for name, excluded in excluded_by_figure.items() if excluded},
        id_health=grid.id_health,
        notes=(
            *_perfect_system_notes(counts, averages["f1"]),
            *shared_text_warnings({name: facts.texts for name, facts in counts.dataset_facts.items()}),
            *_permutation_notes(differences, options),
            *grid.list_run_notes(),
        ),
        options=options,
        signature=grid.signature,
        view=view,
    )


def _to_sort_key(average: Average) -> float:
    """Return the value of an average for sorting; -1 if undefined."""
    return -1.0 if average.value is None else average.value


def _find_excluded(figure: Figure, counts: ScorecardCounts, options: ScorecardOptions) -> dict[str, str]:
    """Return the datasets over which a figure is not averaged, with the reason for each."""
    reasons = {}
    for name in counts.datasets:
        reason = _explain_rarity(figure, counts.dataset_facts[name], options) or _explain_undefined(
            figure, counts, name
        )
        if reason is not None:
            reasons[name] = reason
    return reasons


def _explain_rarity(figure: Figure, facts: DatasetFacts, options: ScorecardOptions) -> str | None:
    """Return why a dataset has too few mentions with the trait that a figure is about; None if it has enough.

    None also if the figure has no such trait.
    """
    share = facts.shares.get(figure.name)
    if share is None or not options.min_share:
        return None
    if share.value is None:
        return share.reason or "no linked mentions"
    if share.value >= options.min_share:
        return None
    undecided = f", {share.undecided} undecided" if share.undecided else ""
    return f"{100 * share.value:.1f} % of {share.linked:,} linked mentions{undecided}"


def _explain_undefined(figure: Figure, counts: ScorecardCounts, name: str) -> str | None:
    """Return why a figure is undefined for some system on the dataset `name`; None if it is defined for all.

    Such a dataset is excluded for all systems.
    """
    values = get_formula(figure, counts).compute(counts.totals[name])
    reasons: dict[str, list[str]] = {}
    for system, value in zip(counts.systems, values.tolist(), strict=True):
        category = counts.document_counts[name][system].categories.get(figure.name)
        if category is not None and (not category.is_defined or (figure.kind == "rate" and category.total is None)):
            reasons.setdefault(category.reason or "unknown", []).append(system)
        elif np.isnan(value):
            undecided = category is not None and category.undecided
            reasons.setdefault("no case that can be decided" if undecided else "no case", []).append(system)
    n_systems = len(counts.systems)
    messages = [
        reason if len(systems) == n_systems else f"{reason} ({', '.join(systems)})"
        for reason, systems in reasons.items()
    ]
    return "; ".join(messages) or None


def _count_cases(formula: FigureFormula, counts: ScorecardCounts, datasets: Sequence[str]) -> Floats:
    """Return the number of cases behind a figure for each system, summed over `datasets`."""
    cases: Floats = np.zeros(len(counts.systems))
    for dataset in datasets:
        cases = cases + counts.totals[dataset][:, formula.cases].sum(axis=-1)
    return cases


def _compute_averages(figure: Figure, counts: ScorecardCounts, datasets: Sequence[str]) -> list[Average]:
    """Return the average of a figure over `datasets` for each system; for a count, the mean number of errors."""
    formula = get_formula(figure, counts)
    cases = _count_cases(formula, counts, datasets)
    undecided = [_count_undecided(figure, counts, datasets, system) for system in counts.systems]
    if not datasets:
        return [Average(None, 0, reason="no dataset counts")] * len(counts.systems)
    values = mean_over_strata(formula.compute(counts.totals[dataset]) for dataset in datasets)
    if figure.kind == "count":
        values = cases / len(datasets)
    bounds = [_bound_average(figure, counts, datasets, system) for system in counts.systems]
    rows = zip(values.tolist(), cases.tolist(), undecided, bounds, strict=True)
    return [
        Average(value, round(n_cases), n_undecided, min_value=low, max_value=high)
        for value, n_cases, n_undecided, (low, high) in rows
    ]


def _bound_average(
    figure: Figure, counts: ScorecardCounts, datasets: Sequence[str], system: str
) -> tuple[float | None, float | None]:
    """Return the smallest and largest average of a rate for one system; None if undefined or all cases are decided."""
    bounds = [counts.document_counts[dataset][system].bounds.get(figure.name) for dataset in datasets]
    rates = [bound.rates for bound in bounds if bound is not None and bound.rates is not None]
    if len(rates) < len(datasets) or all(low == high for low, high in rates):
        return None, None
    low, high = (sum(side) / len(side) for side in zip(*rates, strict=True))
    return low, high


def _count_undecided(figure: Figure, counts: ScorecardCounts, datasets: Sequence[str], system: str) -> int:
    """Count the cases of one system that cannot be decided for a figure, over `datasets`."""
    name = ACCURACY if figure.name == "accuracy" else figure.name
    categories = [counts.document_counts[dataset][system].categories.get(name) for dataset in datasets]
    return sum(category.undecided for category in categories if category is not None)


def _compare_systems(
    figures: Sequence[Figure],
    counts: ScorecardCounts,
    datasets_by_figure: Mapping[str, Sequence[str]],
    options: ScorecardOptions,
) -> dict[str, dict[str, Contrast]]:
    """Test in every figure each system against the mean of the others; p-values are corrected together.

    The contrasts are returned by system and figure. They are undefined if there is only one system.
    """
    n_systems = len(counts.systems)
    if n_systems < 2:
        alone = Contrast(None, reason="there is no other system")
        return {counts.systems[0]: {figure.name: alone for figure in figures}}
    rows = []
    with track_progress("resampling, figures", len(figures)) as advance:
        for figure in figures:
            rows.append(_compute_contrasts(figure, counts, datasets_by_figure[figure.name], options))
            advance(1)
    p = np.array([[np.nan if contrast.p is None else contrast.p for contrast in row] for row in rows])
    # With two systems each difference is the negative of the other: that is one test, not two.
    corrected = holm(p) if n_systems > 2 else np.repeat(holm(p[:, :1]), 2, axis=1)
    contrasts = [
        [_add_verdict(figure, contrast, value, options) for contrast, value in zip(row, values, strict=True)]
        for figure, row, values in zip(figures, rows, corrected.tolist(), strict=True)
    ]
    return {
        system: {figure.name: row[index] for figure, row in zip(figures, contrasts, strict=True)}
        for index, system in enumerate(counts.systems)
    }


def _compute_contrasts(
    figure: Figure, counts: ScorecardCounts, datasets: Sequence[str], options: ScorecardOptions
) -> list[Contrast]:
    """Return for each system the contrast with the mean of the others in one figure, with p-value before correction.

    A system with too few cases gets the verdict `too few` and no p-value.
    """
    if not datasets:
        return [Contrast(None, reason="no dataset counts")] * len(counts.systems)
    formula = get_formula(figure, counts)
    strata = {dataset: counts.strata[dataset][:, :, formula.columns] for dataset in datasets}
    values = mean_differences((rows.sum(axis=0) for rows in strata.values()), formula.measure)
    # Resampling only the columns of the figure gives the samples of `compare` for F1.
    resampled = (
        resample_stratum(rows, options.resamples, counts.grid.derive_seed(dataset, options.seed))
        for dataset, rows in strata.items()
    )
    samples = mean_differences(resampled, formula.measure)
    has_enough = _has_enough_cases_by_system(figure, _count_cases(formula, counts, datasets), options)
    p = (
        _compute_p_values(figure, counts, list(strata.values()), formula, options)
        if any(has_enough)
        else np.full(len(has_enough), np.nan)
    )
    documents = sum(int(rows.any(axis=(1, 2)).sum()) for rows in strata.values())
    contrasts = []
    for index, value in enumerate(values.tolist()):
        contrast = estimate(value, samples[:, index], documents, options.alpha)
        if has_enough[index]:
            contrasts.append(Contrast(contrast.value, contrast.low, contrast.high, p=float(p[index])))
        else:
            reason = f"fewer than {options.min_cases} cases"
            contrasts.append(Contrast(contrast.value, contrast.low, contrast.high, verdict="too few", reason=reason))
    return contrasts


def _compute_p_values(
    figure: Figure, counts: ScorecardCounts, strata: Sequence[Floats], formula: FigureFormula, options: ScorecardOptions
) -> Floats:
    """Return the p-value of each system's contrast in a figure; for F1 of two systems the same as in `compare`.

    `strata`: for each dataset, documents × systems × columns of the formula.
    """
    if figure.name == "f1" and len(counts.systems) == 2:
        return np.repeat(mean_p_values(counts.grid, [(0, 1)], options), 2)
    return swap_test(
        strata, formula.measure, denominator=formula.size, resamples=options.permutations, seed=options.seed
    )


def _has_enough_cases_by_system(figure: Figure, cases: Floats, options: ScorecardOptions) -> list[bool]:
    """Return for each system whether it, and the others on average, have at least `min_cases` cases.

    For counts of errors one side is enough: no errors against many is informative.
    """
    others = (cases.sum() - cases) / (len(cases) - 1)
    sides = np.maximum(cases, others) if figure.kind == "count" else np.minimum(cases, others)
    enough: list[bool] = (sides >= options.min_cases).tolist()
    return enough


def _add_verdict(figure: Figure, contrast: Contrast, corrected: float, options: ScorecardOptions) -> Contrast:
    """Return the contrast with the p-value `corrected` and a verdict; unchanged if the contrast was not tested."""
    if contrast.p is None or contrast.value is None:
        return contrast
    excludes_zero = contrast.low is not None and contrast.high is not None and (contrast.low > 0 or contrast.high < 0)
    verdict: Verdict = "none"
    if corrected <= options.alpha and excludes_zero and abs(contrast.value) >= options.min_effect:
        verdict = "strength" if (contrast.value > 0) == (figure.kind == "score") else "weakness"
    return replace(contrast, corrected=corrected, verdict=verdict)


def _summarise(figures: Sequence[Figure], differences: Mapping[str, Contrast]) -> str:
    """Return a sentence that names the error categories with significant contrasts, the largest first.

    Empty if nothing was tested.
    """
    parts = []
    for verdict, phrase, quantity in (("strength", "strong on", "few"), ("weakness", "weak on", "many")):
        selected = [
            figure for figure in figures if figure.kind != "score" and differences[figure.name].verdict == verdict
        ]
        selected.sort(key=lambda figure: -abs(differences[figure.name].value or 0.0))
        for prefix, is_mention_category in ((phrase, True), (quantity, False)):
            items = [
                f"{figure.phrase} ({figure.format_effect(differences[figure.name].value or 0.0)})"
                for figure in selected
                if (figure.name in _MENTION_CATEGORIES) == is_mention_category
            ]
            parts += [f"{prefix} {', '.join(items)}"] if items else []
    if not parts and any(contrast.p is not None for contrast in differences.values()):
        return "in no category significantly better or worse than the others"
    return "; ".join(parts)


def _perfect_system_notes(counts: ScorecardCounts, f1: Sequence[Average]) -> list[str]:
    """Return a note if one of at least three systems has an F1 of 1, since all others then look weak; else empty."""
    names = [system for system, average in zip(counts.systems, f1, strict=True) if average.value == 1]
    if not names or len(counts.systems) < 3:
        return []
    return [f"no errors: {', '.join(names)}. This raises the mean of the other systems: omit the perfect system"]


def _permutation_notes(differences: Mapping[str, Mapping[str, Contrast]], options: ScorecardOptions) -> list[str]:
    """Return a warning if too few permutations are drawn for any p-value to survive the correction.

    Returns an empty list otherwise.
    """
    n_tests = sum(contrast.p is not None for contrasts in differences.values() for contrast in contrasts.values())
    warning = options.permutation_warning(n_tests // 2 if len(differences) == 2 else n_tests)
    return [] if warning is None else [warning]
