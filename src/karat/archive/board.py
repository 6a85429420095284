"""Who is better, and what do systems get wrong: from results alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import groupby
from math import comb

import numpy as np

from karat.archive.archive import Archive, ArchiveEntry
from karat.archive.making import headline
from karat.archive.shape import (
    BoardPiece,
    CategoryInfo,
    CellNote,
    DatasetInfo,
    ErrorCounts,
    ErrorsPiece,
    MeasureTable,
    ProfileInfo,
    SystemInfo,
)
from karat.archive.verdicts import ERROR
from karat.archive.verified import verifications
from karat.comparison.compare import compare
from karat.comparison.entries import entry_of
from karat.comparison.terms import Terms
from karat.errors import KaratError
from karat.evaluation.cases.errors import categories
from karat.model.name import parse_measure
from karat.model.result import Group, Result
from karat.model.tables.facet import NONE
from karat.signing import profile_named
from karat.version import __version__

_LEVEL = 0.05

_PERMUTATIONS = 2000
"""Draws for the p-values behind ranks, at least: more where so few could not survive the correction for all pairs."""

_TESTS = 400
"""Pairs of systems on all datasets up to which they are tested."""

_TESTED = ("micro.p", "micro.r", "micro.f1")
"""The measures, besides the one that is shown first, that are tested: of the same view."""


def board(archive: Archive) -> BoardPiece:
    """Systems on datasets under all profiles that there are numbers of."""
    systems, keys = ordered_systems(archive), list(archive.datasets)
    by_profile = {
        name: {(entry.key, entry.system): archive.result(entry) for entry in entries}
        for name, entries in _grouped(archive)
    }
    own = by_profile.pop(archive.profile)
    by_profile = {archive.profile: own, **by_profile}
    titles = {entry.system: entry.title for entry in archive.entries if entry.title}
    averaged = [place for place, key in enumerate(keys) if all((key, system) in own for system in systems)]
    return BoardPiece(
        layout="karat-archive/1",
        version=__version__,
        title=archive.title,
        profile=archive.profile,
        level=_LEVEL,
        tests=f"{_draws(own)} permutations of paired documents, p ≤ {_LEVEL:g} after correction by Holm for all pairs",
        texts=archive.texts,
        systems=[SystemInfo(system, titles.get(system) or system) for system in systems],
        datasets=[_dataset(archive, key) for key in keys],
        averaged=averaged,
        profiles=[_profile(name, results) for name, results in by_profile.items()],
        tables=[
            _table(name, measure, results, systems, keys, averaged, own)
            for name, results in by_profile.items()
            for measure in _measures(results)
        ],
        notes=[
            _note(archive, entry, keys.index(entry.key), systems.index(entry.system))
            for entry in sorted(archive.entries, key=lambda entry: (keys.index(entry.key), entry.system))
        ],
        verified=bool(verifications(archive)),
    )


def ordered_systems(archive: Archive) -> list[str]:
    """All systems, by the mean of the measure that is shown first, the best first."""
    values: dict[str, list[float]] = {}
    for entry in archive.entries:
        values.setdefault(entry.system, []).append(archive.result(entry)[entry.measure] or 0.0)
    return sorted(values, key=lambda system: (-sum(values[system]) / len(values[system]), system))


def _grouped(archive: Archive) -> list[tuple[str, list[ArchiveEntry]]]:
    known = {(entry.key, entry.system) for entry in archive.entries}
    entries = [entry for entry in archive.every.values() if (entry.key, entry.system) in known]
    ordered = sorted(entries, key=lambda entry: entry.profile)
    return [(name, list(group)) for name, group in groupby(ordered, key=lambda entry: entry.profile)]


def _dataset(archive: Archive, key: str) -> DatasetInfo:
    entry, every = archive.datasets[key], list(archive.on(key))
    return DatasetInfo(
        key,
        entry.dataset,
        entry.data,
        len(archive.result(entry).ids),
        cases=any(each.verdicts for each in every),
        texts=archive.shown(key) is not None,
        curves=any(each.curves or each.seconds or each.verdicts for each in every),
        credits=any(each.credits for each in every),
        groups=is_split(archive, key),
        reasons=sorted({profile for each in every for profile in each.reasons}),
    )


def split_scores(archive: Archive, entry: ArchiveEntry) -> dict[str, Mapping[str, Group]]:
    """The scores of the view that pages show, by label and value; not of labels that no mention has a value of."""
    by = {name: views.get(entry.view, {}) for name, views in archive.result(entry).by.items() if name != ERROR}
    return {
        name: values
        for name, values in by.items()
        if any(value != NONE and gold_count(group) for value, group in values.items())
    }


def gold_count(group: Group) -> int:
    """How many mentions have the value that a group is of."""
    return 0 if group.counts is None else round(group.counts.matched_gold + group.counts.unmatched_gold)


def is_split(archive: Archive, key: str) -> bool:
    """Whether scores on a dataset are split by any label."""
    return any(split_scores(archive, entry) for entry in archive.on(key))


def _measures(results: Mapping[tuple[str, str], Result]) -> list[str]:
    """The measures that tables show, as far as they are of the whole."""
    shown = dict.fromkeys(name for result in results.values() for name in result.shown)
    return [name for name in shown if parse_measure(name).group is None]


def _profile(name: str, results: Mapping[tuple[str, str], Result]) -> ProfileInfo:
    try:
        known = profile_named(name)
        title, says = known.title, known.says
    except KaratError:  # a profile of somebody else's, which is not installed here
        title, says = name, ""
    return ProfileInfo(name, title, says, headline(next(iter(results.values()))), _measures(results))


def _table(
    profile: str,
    measure: str,
    results: Mapping[tuple[str, str], Result],
    systems: Sequence[str],
    keys: Sequence[str],
    averaged: Sequence[int],
    own: Mapping[tuple[str, str], Result],
) -> MeasureTable:
    cells = [[results.get((key, system)) for system in systems] for key in keys]
    values = [[_value(cell, measure) for cell in row] for row in cells]
    better = _better(results, measure) if results is own and _is_tested(results, measure) else {}
    found = [[better.get((key, system)) for system in systems] for key in keys]
    between = [[None if cell is None else cell.intervals.get(measure) for cell in row] for row in cells]
    return MeasureTable(
        profile,
        measure,
        value=values,
        low=[[None if ends is None else _short(ends[0]) for ends in row] for row in between],
        high=[[None if ends is None else _short(ends[1]) for ends in row] for row in between],
        better=[[None if own is None else sorted(map(systems.index, own)) for own in row] for row in found],
        mean=[_mean([values[place][column] for place in averaged]) for column in range(len(systems))],
    )


def _value(result: Result | None, measure: str) -> float | None:
    return None if result is None or measure not in result.scores else _short(result[measure])


def _short(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(value, 5)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 5) if known and len(known) == len(values) else None


def _is_tested(results: Mapping[tuple[str, str], Result], measure: str) -> bool:
    first = headline(next(iter(results.values())))
    return measure == first or measure in [f"{parse_measure(first).view}:{short}" for short in _TESTED]


def _draws(results: Mapping[tuple[str, str], Result]) -> int:
    """How many draws p-values need to survive the correction, twice over; none where there are too many pairs."""
    systems = Counter(key for key, _ in results)
    tests = sum(comb(count, 2) for count in systems.values())
    return max(_PERMUTATIONS, int(2 * tests / _LEVEL)) if 0 < tests <= _TESTS else 0


def _better(results: Mapping[tuple[str, str], Result], measure: str) -> dict[tuple[str, str], list[str]]:
    """Who is significantly better than whom, where scores follow from sums over documents."""
    if not (draws := _draws(results)):
        return {}
    keys = {result.signature["data"]: key for (key, _), result in results.items()}
    try:
        found = compare(
            map(entry_of, results.values()), None, Terms(_LEVEL, permutations=draws, resamples=200), measure=measure
        )
    except KaratError:  # results that were not scored alike
        return {}
    better: dict[tuple[str, str], list[str]] = {}
    for dataset in found.datasets:
        tested = [pair for pair in dataset.pairs if pair.corrected is not None and dataset.data in keys]
        for pair in tested:
            for system in (pair.one, pair.two):
                better.setdefault((keys[dataset.data], system), [])
            if (winner := pair.better(_LEVEL)) is not None:
                better[keys[dataset.data], pair.two if winner == pair.one else pair.one].append(winner)
    return better


def _note(archive: Archive, entry: ArchiveEntry, dataset: int, system: int) -> CellNote:
    result = archive.result(entry)
    known = {**result.views, **result.totals}
    counts = result.counts(entry.view) if entry.view in known else None
    return CellNote(
        dataset,
        system,
        dict(result.skipped),
        [note for note in result.notes if not _is_of_another_split(note, known.keys() - {entry.view})],
        dict(entry.refused),
        {name: reason for name in result.shown if (reason := result.score(name).reason) is not None},
        entry.seconds,
        [] if counts is None else [counts.matched_gold, counts.unmatched_answers, counts.unmatched_gold],
        str(result.signature),
    )


def _is_of_another_split(note: str, views: Set[str]) -> bool:
    """Whether a note is about scores by a label in a view that pages do not split: nobody asked for them there."""
    view, _, said = note.partition(": ")
    return view in views and "precision by " in said


def errors(archive: Archive) -> ErrorsPiece:
    """How many errors of each category every system makes."""
    known, keys, systems = categories(), list(archive.datasets), ordered_systems(archive)
    counts = []
    for entry in archive.entries:
        groups = archive.result(entry).by.get(ERROR, {}).get(entry.view)
        if groups and any(group.errors is not None for group in groups.values()):
            own = [groups.get(name) for name in known]
            counts.append(
                ErrorCounts(
                    keys.index(entry.key),
                    systems.index(entry.system),
                    [None if group is None else group.errors for group in own],
                    [None if group is None else group.total for group in own],
                    [0 if group is None else group.undecided for group in own],
                )
            )
    infos = [CategoryInfo(name, each.title, each.says, each.among, each.group) for name, each in known.items()]
    return ErrorsPiece(infos, counts)
