"""The leaderboard and error resources, built from results alone.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import comb
from typing import Literal, NamedTuple

import numpy as np

from karat.analysis.comparison.entries import Entry
from karat.analysis.comparison.grid import build_grid, get_fixed_settings
from karat.analysis.comparison.options import ComparisonOptions
from karat.analysis.comparison.significance import Pair, correct_pairs, estimate_differences, test_dataset
from karat.evaluation.cases.errors import categories
from karat.evaluation.measures import get_measure
from karat.model.errors import KaratError, UnknownNameError
from karat.model.measure_name import parse_measure
from karat.model.profile_signatures import get_profile
from karat.model.registry import get_plugin
from karat.model.results.result import GroupScores, Result
from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import NONE
from karat.stats.samples.confidence_intervals import RESAMPLES
from karat.version import __version__
from karat.web.archive.archive import Archive, ArchiveEntry
from karat.web.archive.measure_titles import describe_measure
from karat.web.archive.reproductions import list_reproductions
from karat.web.archive.rounding import round_score
from karat.web.archive.shape import (
    CategoryExample,
    CategoryInfo,
    CellNote,
    DatasetInfo,
    ErrorCounts,
    ErrorsResource,
    LeaderboardResource,
    MeasureTable,
    ProfileInfo,
    SystemInfo,
    UntestedSystems,
)
from karat.web.archive.submissions import get_headline
from karat.web.archive.verdicts import ERROR
from karat.web.archive.verification import list_verifications

_INTERVAL_ALPHA = 0.05
"""One minus the confidence level of all intervals on web pages."""

_TESTS = 400
"""Maximum number of system pairs on a dataset that are tested."""

_TESTED = ("micro.p", "micro.r", "micro.f1")
"""Tested measures of the headline view, besides the headline measure."""


def build_leaderboard(archive: Archive) -> LeaderboardResource:
    """Build the leaderboard: scores, intervals and significance of all systems on all datasets under every profile."""
    systems, keys = archive.systems, list(archive.datasets)
    by_profile = {
        name: {(entry.key, entry.system): archive.read_result(entry) for entry in entries}
        for name, entries in _group_by_profile(archive)
    }
    main_results, tests = by_profile.pop(archive.profile, {}), compare_systems(archive)
    test_options = _choose_tests(archive)
    if main_results:  # an archive may have only reproductions of papers
        by_profile = {archive.profile: main_results, **by_profile}
    averaged = [index for index, key in enumerate(keys) if all((key, system) in main_results for system in systems)]
    return LeaderboardResource(
        layout="karat-archive/2",
        version=__version__,
        title=archive.title,
        profile=archive.profile,
        alpha=test_options.alpha,
        tests=test_options.description,
        texts=archive.texts,
        systems=[_describe_system(archive, system) for system in systems],
        datasets=[_describe_dataset(archive, key) for key in keys],
        averaged_datasets=averaged,
        profiles=[_describe_profile(name, results) for name, results in by_profile.items()],
        measure_titles={
            measure: describe_measure(measure) for results in by_profile.values() for measure in _list_measures(results)
        },
        tables=[
            _build_table(name, measure, results, systems, keys, averaged, tests if results is main_results else None)
            for name, results in by_profile.items()
            for measure in _list_measures(results)
        ],
        notes=[
            _build_note(
                archive,
                entry,
                keys.index(entry.key),
                systems.index(entry.system),
                {
                    name: result
                    for name, results in by_profile.items()
                    if name != archive.profile and (result := results.get((entry.key, entry.system))) is not None
                },
            )
            for entry in sorted(archive.entries, key=lambda entry: (keys.index(entry.key), entry.system))
        ],
        has_verification=bool(list_verifications(archive)),
        has_papers=bool(list_reproductions(archive)),
    )


def _group_by_profile(archive: Archive) -> list[tuple[str, list[ArchiveEntry]]]:
    """Return the entries of each profile for all systems and datasets that have an entry under the main profile."""
    pairs = {(entry.key, entry.system) for entry in archive.entries}
    entries = [entry for entry in archive.all_entries.values() if (entry.key, entry.system) in pairs]
    entries_by_profile = sorted(entries, key=lambda entry: entry.profile)
    return [(name, list(group)) for name, group in groupby(entries_by_profile, key=lambda entry: entry.profile)]


def _describe_system(archive: Archive, system: str) -> SystemInfo:
    """Return title, description and date of a system; the last submitted ones count."""
    entries = [entry for entry in archive.entries if entry.system == system]

    def find_last(name: str) -> str | None:
        return next((value for entry in reversed(entries) if (value := getattr(entry, name))), None)

    return SystemInfo(
        system,
        find_last("title") or system,
        find_last("description"),
        find_last("date"),
        any(entry.is_upload for entry in entries),
    )


def _describe_dataset(archive: Archive, key: str) -> DatasetInfo:
    """Return name and size of a dataset, and which pages the archive can show for it."""
    entry, entries = archive.datasets[key], list(archive.get_entries(key))
    return DatasetInfo(
        key,
        entry.dataset,
        entry.data,
        len(archive.read_result(entry).ids),
        cases=any(item.verdicts for item in entries),
        texts=archive.get_visible_corpus(key) is not None,
        curves=any(item.curves or item.usage or item.verdicts for item in entries),
        credits=any(item.credits for item in entries),
        groups=has_groups(archive, key),
        facets=[
            (name, name if (facet := find_facet(name)) is None else facet.title)
            for name in dict.fromkeys(name for item in entries for name in get_group_scores(archive, item))
        ],
        reasons=sorted({profile for item in entries for profile in item.reasons}),
    )


def get_group_scores(archive: Archive, entry: ArchiveEntry) -> dict[str, Mapping[str, GroupScores]]:
    """Return the scores of an entry's headline view by facet and group; facets without gold mentions are omitted."""
    groups = archive.read_result(entry).groups
    scores = {name: views.get(entry.view, {}) for name, views in groups.items() if name != ERROR}
    return {
        name: values
        for name, values in scores.items()
        if any(value != NONE and count_gold(group) for value, group in values.items())
    }


def count_gold(group: GroupScores) -> int:
    """Return how many gold mentions count in a group; 0 if its counts are unknown."""
    return 0 if group.counts is None else round(group.counts.matched_gold + group.counts.unmatched_gold)


def find_facet(name: str) -> Facet | None:
    """Return the facet plugin of that name; None for category dimensions and metadata keys."""
    try:
        return get_plugin("facets", name.replace("_", "-"), Facet)
    except UnknownNameError:  # the values come from the data
        return None


def has_groups(archive: Archive, key: str) -> bool:
    """Return whether any system has scores by group on the dataset `key`."""
    return any(get_group_scores(archive, entry) for entry in archive.get_entries(key))


def _list_measures(results: Mapping[tuple[str, str], Result]) -> list[str]:
    """Return the measures that any of the results shows, without measures of a single group."""
    measures = dict.fromkeys(name for result in results.values() for name in result.table_measures)
    return [name for name in measures if parse_measure(name).group is None]


def _describe_profile(name: str, results: Mapping[tuple[str, str], Result]) -> ProfileInfo:
    """Return title, description and measures of a profile; a profile that is not installed is titled by its name."""
    try:
        profile = get_profile(name)
        title, description = profile.title, profile.description
    except KaratError as problem:  # the profile is not installed here
        title, description = name, f"No description: {problem}"
    return ProfileInfo(name, title, description, get_headline(next(iter(results.values()))), _list_measures(results))


def _build_table(
    profile: str,
    measure: str,
    results: Mapping[tuple[str, str], Result],
    systems: Sequence[str],
    keys: Sequence[str],
    averaged: Sequence[int],
    tests_by_measure: Mapping[str, Sequence[SystemTests]] | None,
) -> MeasureTable:
    """Build the table of a measure under a profile: a row per dataset, a column per system.

    `results` are the results of the profile, by dataset key and system. `averaged` are the indices of datasets that the
    mean is taken over. `tests_by_measure` has the significance tests, which only the main profile has.
    """
    cells = [[results.get((key, system)) for system in systems] for key in keys]
    values = [[_get_value(cell, measure) for cell in row] for row in cells]
    untested_reason = _explain_untested_measure(results, measure, is_main=tests_by_measure is not None)
    tests = (tests_by_measure or {}).get(measure) or [SystemTests({}, {}, [], []) for _ in keys]
    interval_rows = [[None if cell is None else cell.intervals.get(measure) for cell in row] for row in cells]

    def index_systems(names: Iterable[str]) -> list[int]:
        return sorted(map(systems.index, names))

    return MeasureTable(
        profile,
        measure,
        value=[[round_score(value) for value in row] for row in values],
        low=[[None if ends is None else round_score(ends[0]) for ends in row] for row in interval_rows],
        high=[[None if ends is None else round_score(ends[1]) for ends in row] for row in interval_rows],
        better_systems=[
            [index_systems(row.better[system]) if system in row.better else None for system in systems] for row in tests
        ],
        tested_systems=[[index_systems(row.tested.get(system, ())) for system in systems] for row in tests],
        untested=[
            UntestedSystems(dataset, index_systems(names), reason)
            for dataset, row in enumerate(tests)
            for names, reason in row.untested
        ],
        untested_reason=untested_reason,
        direction=_find_direction(measure),
        mean=[_average_scores([values[index][column] for index in averaged]) for column in range(len(systems))],
        oracle=[any(cell is not None and cell.has_oracle_threshold(measure) for cell in row) for row in cells],
    )


def _find_direction(measure: str) -> Literal["high", "low", "none"]:
    """Return which values of a measure are better: high, low, or none for spreads and measures unknown here."""
    try:
        plugin = get_measure(parse_measure(measure))
    except UnknownNameError:  # a measure of a plugin that is not installed: no value is shown as the best
        return "none"
    return "none" if plugin.is_dispersion else "low" if plugin.is_lower_better else "high"


def _get_value(result: Result | None, measure: str) -> float | None:
    """Return the score of a result; None if the result, the measure or its value is missing or infinite."""
    value = None if result is None or measure not in result.scores else result[measure]
    return None if value is None or not np.isfinite(value) else value


def _average_scores(values: Sequence[float | None]) -> float | None:
    """Return the rounded mean of scores; None if there are none or if one of them is undefined."""
    defined = [value for value in values if value is not None]
    return round_score(sum(defined) / len(defined)) if defined and len(defined) == len(values) else None


def _explain_untested_measure(results: Mapping[tuple[str, str], Result], measure: str, *, is_main: bool) -> str:
    """Return why differences of a measure are not tested; empty for the headline, and P, R and F1 of its view.

    `is_main` says whether the results are those of the main profile.
    """
    if not is_main:
        return "differences are tested under the main profile only"
    headline = get_headline(next(iter(results.values())))
    tested = dict.fromkeys([headline, *(f"{parse_measure(headline).view}:{short}" for short in _TESTED)])
    return "" if measure in tested else f"only differences of {', '.join(tested)} are tested"


def _choose_tests(archive: Archive) -> ComparisonOptions:
    """Return the options of the archive's tests; unless it has some, those of `compare` with enough permutations."""
    if archive.tests is not None:
        return archive.tests
    options = ComparisonOptions()
    n_pairs = sum(n for key in archive.datasets if (n := comb(len(archive.get_entries(key)), 2)) <= _TESTS)
    return replace(options, permutations=max(options.permutations, options.min_permutations(n_pairs)))


class ComparedSystems(NamedTuple):
    """Systems on one dataset that were scored alike, with the differences between all pairs of them."""

    systems: tuple[str, ...]
    """The systems in alphabetical order."""
    pairs: list[Pair]
    """All pairs in the order of `itertools.combinations`, with intervals; without p-values if they were not tested."""


class SystemTests(NamedTuple):
    """Tests of one measure between systems on one dataset."""

    better: dict[str, list[str]]
    """Significantly better systems by system."""
    tested: dict[str, list[str]]
    """Systems that each system was tested against."""
    untested: list[tuple[list[str], str]]
    """Systems that were not tested against some other system, each list with the reason."""
    compared: list[ComparedSystems]
    """Systems that were scored alike, with all differences."""


def compare_systems(archive: Archive) -> dict[str, list[SystemTests]]:
    """Compare all systems under the main profile, by tested measure; each list has an item per dataset.

    Systems are compared once, for the leaderboard and for the differences of pairs.
    """
    return archive.compute_once("tests", lambda: _compare_systems(archive))


def _compare_systems(archive: Archive) -> dict[str, list[SystemTests]]:
    """Compare all systems on all datasets by each tested measure."""
    results = {(entry.key, entry.system): archive.read_result(entry) for entry in archive.entries}
    rows = [
        {system: results[key, system] for system in archive.systems if (key, system) in results}
        for key in archive.datasets
    ]
    options = _choose_tests(archive)
    return {
        measure: _correct_tests([_test_systems(row, measure, options) for row in rows], options)
        for measure in _list_measures(results)
        if not _explain_untested_measure(results, measure, is_main=True)
    }


def _correct_tests(rows: list[SystemTests], options: ComparisonOptions) -> list[SystemTests]:
    """Return the tests of a measure on all datasets, with their outcomes after correction for all pairs together."""
    corrected = iter(
        correct_pairs([pair for tests in rows for compared in tests.compared for pair in compared.pairs], options)
    )
    for tests in rows:
        for index, compared in enumerate(tests.compared):
            tests.compared[index] = compared._replace(pairs=[next(corrected) for _ in compared.pairs])
            _add_outcomes(tests.compared[index], tests, options)
    return rows


def _test_systems(results: Mapping[str, Result], measure: str, options: ComparisonOptions) -> SystemTests:
    """Test the differences between all systems on one dataset that were scored alike; `results` is by system.

    The p-values are not yet corrected.
    """
    groups: dict[tuple[tuple[str, str], ...], dict[str, Result]] = {}
    tests = SystemTests({}, {}, [], [])
    without_score = [name for name, result in results.items() if _get_value(result, measure) is None]
    for system, result in results.items():
        if system not in without_score:
            fixed = get_fixed_settings(result.signature)
            groups.setdefault(tuple(sorted(fixed.items())), {})[system] = result
    if without_score:
        tests.untested.append((without_score, f"no score for {measure}"))
    largest = max(groups, key=lambda settings: len(groups[settings]), default=())
    for settings, group in groups.items():
        if settings != largest:
            tests.untested.append((list(group), _describe_settings(dict(settings), dict(largest), groups[largest])))
        _test_group(group, measure, tests, options)
    return tests


def _describe_settings(settings: Mapping[str, str], others: Mapping[str, str], systems: Iterable[str]) -> str:
    """Return how the settings of a system differ from those of the other `systems` on the dataset."""
    names = [name for name in {**settings, **others} if settings.get(name) != others.get(name)]
    differences = "; ".join(f"{name} is {settings.get(name, 'none')}, not {others.get(name, 'none')}" for name in names)
    return f"scored differently from {', '.join(systems)}: {differences}"


def _test_group(results: Mapping[str, Result], measure: str, tests: SystemTests, options: ComparisonOptions) -> None:
    """Test all pairs of systems that were scored alike on one dataset, and add them to `tests`."""
    systems = list(results)
    if len(systems) == 1:
        if not any(system in names for names, _ in tests.untested for system in systems):
            tests.untested.append((systems, "no other system was scored alike on this dataset"))
        return
    entries = [
        Entry(system, result.corpus, result.signature["data"], result=result) for system, result in results.items()
    ]
    resamples = max(result.resamples for result in results.values()) or RESAMPLES
    try:
        grid = build_grid(entries, None, measure)
        (dataset,) = grid.datasets
        pairs = estimate_differences(
            grid, dataset, replace(options, alpha=_INTERVAL_ALPHA, resamples=max(2, resamples))
        )
        if comb(len(systems), 2) <= _TESTS:
            tested_pairs = test_dataset(grid, dataset, options)
            pairs = [
                replace(tested, low=pair.low, high=pair.high) for tested, pair in zip(tested_pairs, pairs, strict=True)
            ]
    except KaratError as problem:
        tests.untested.append((systems, str(problem)))
        return
    tests.compared.append(ComparedSystems(grid.systems, pairs))


def _add_outcomes(compared: ComparedSystems, tests: SystemTests, options: ComparisonOptions) -> None:
    """Add to `tests` which systems are better than which, and why others are not tested."""
    if len(compared.pairs) > _TESTS:
        tests.untested.append((list(compared.systems), f"more than {_TESTS} pairs of systems"))
        return
    reasons: dict[str, dict[str, None]] = {}
    for pair in compared.pairs:
        names = pair.system_a, pair.system_b
        if pair.corrected is None:
            reasons.setdefault(pair.reason or "no p-value", {}).update(dict.fromkeys(names))
            continue
        for system, other in (names, names[::-1]):
            tests.tested.setdefault(system, []).append(other)
            tests.better.setdefault(system, [])
            if pair.better_system(options.alpha) == other:
                tests.better[system].append(other)
    tests.untested.extend((list(names), reason) for reason, names in reasons.items())


def _build_note(
    archive: Archive, entry: ArchiveEntry, dataset: int, system: int, other_results: Mapping[str, Result]
) -> CellNote:
    """Build the notes on an entry: skipped input, warnings, missing scores with reasons, counts and signature.

    `other_results` are the results under other profiles, by profile.
    """
    result = archive.read_result(entry)
    views = {**result.views, **result.totals}
    counts = result.counts(entry.view) if entry.view in views else None
    return CellNote(
        dataset,
        system,
        dict(result.skipped),
        [note for note in result.notes if not _concerns_hidden_view(note, frozenset(views.keys() - {entry.view}))],
        {
            name: notes
            for name, other in other_results.items()
            if (notes := [note for note in other.notes if note not in result.notes])
        },
        dict(entry.refusals),
        {name: reason for name in result.table_measures if (reason := result.score(name).reason) is not None},
        dict(entry.usage),
        [] if counts is None else [counts.matched_gold, counts.unmatched_predictions, counts.unmatched_gold],
        str(result.signature),
    )


def _concerns_hidden_view(note: str, views: frozenset[str]) -> bool:
    """Return whether a note is about precision by group only in `views`, which no page shows."""
    names, _, message = note.partition(": ")
    return "precision by " in message and views.issuperset(names.split(", "))


def build_errors(archive: Archive) -> ErrorsResource:
    """Build the error counts of every system on every dataset by error category."""
    error_categories, keys, systems = categories(), list(archive.datasets), archive.systems
    counts = []
    for entry in archive.entries:
        groups = archive.read_result(entry).groups.get(ERROR, {}).get(entry.view)
        if groups and any(group.errors is not None for group in groups.values()):
            category_groups = [groups.get(name) for name in error_categories]
            counts.append(
                ErrorCounts(
                    keys.index(entry.key),
                    systems.index(entry.system),
                    [None if group is None else group.errors for group in category_groups],
                    [None if group is None else group.total for group in category_groups],
                    [0 if group is None else group.undecided for group in category_groups],
                    [_explain_undefined_category(group) for group in category_groups],
                    *([_get_rate_bound(group, end) for group in category_groups] for end in (0, 1)),
                )
            )
    infos = [
        CategoryInfo(
            name,
            category.title,
            category.description,
            category.total_description,
            category.group,
            category.is_avoided is not None,
            None
            if (example := category.example) is None
            else CategoryExample(example.gold, example.predictions, example.errors, example.total),
        )
        for name, category in error_categories.items()
    ]
    return ErrorsResource(infos, counts)


def _get_rate_bound(group: GroupScores | None, end: int) -> float | None:
    """Return the lower (0) or upper (1) end of the interval of an error rate; None if it has none."""
    bounds = None if group is None else group.intervals.get("micro.error-rate")
    return None if bounds is None else round_score(bounds[end])


def _explain_undefined_category(group: GroupScores | None) -> str | None:
    """Return why an error category does not apply to a system; None if it applies."""
    if group is None:
        return "the result does not have this category"
    return group["micro.error-rate"].reason or "unknown" if group.errors is None else None
