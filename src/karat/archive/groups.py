"""Scores split by what mentions are: types, fine-grained categories, mention types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from karat.archive.archive import Archive, ArchiveEntry
from karat.archive.board import gold_count, ordered_systems, split_scores
from karat.archive.shape import GroupsPiece, LabelTrack, LabelValue, SplitLabel, SplitTable
from karat.archive.verdicts import BY
from karat.errors import KaratError, UsageError
from karat.model.result import Group
from karat.model.tables.facet import NONE
from karat.registry import get
from karat.spec.grouping import Grouping

_MEASURES = ("micro.f1", "micro.p", "micro.r")


def groups(archive: Archive, key: str) -> GroupsPiece:
    """The scores of every system by each label that they were split by."""
    systems = ordered_systems(archive)
    every = sorted(archive.on(key), key=lambda entry: systems.index(entry.system))
    found = [(entry, own) for entry in every if (own := split_scores(archive, entry))]
    if not found:
        raise UsageError("the scores are not split by any label. Ask karat report for labels with --by.")
    names = dict.fromkeys(name for _, own in found for name in own)
    called = {id: name for entry, _ in found for id, name in entry.types.items()}
    return GroupsPiece(
        archive.datasets[key].dataset,
        found[0][0].view,
        [
            _label(archive, name, [(entry, own[name]) for entry, own in found if name in own], systems, called)
            for name in names
        ],
    )


def _label(
    archive: Archive,
    name: str,
    found: Sequence[tuple[ArchiveEntry, Mapping[str, Group]]],
    systems: Sequence[str],
    called: Mapping[str, str],
) -> SplitLabel:
    gold: dict[str, int] = {}
    for value, group in (item for _, own in found for item in own.items()):
        gold[value] = max(gold.get(value, 0), gold_count(group))
    values = sorted(gold, key=lambda value: (value == NONE, -gold[value], value))
    scored = {entry.system: own for entry, own in found}
    by_system = [scored.get(system, {}) for system in systems]
    combinations: dict[tuple[int, ...], int] = {}
    tracks = [
        LabelTrack(systems.index(entry.system), own)
        for entry, _ in found
        if (own := _track(archive, entry, name, values, combinations))
    ]
    known = _grouping(name)
    return SplitLabel(
        name,
        name if known is None else known.title,
        "" if known is None else known.says,
        [LabelValue(value, called.get(value, value), gold[value]) for value in values],
        [
            SplitTable(measure, [[_score(own.get(value), measure) for own in by_system] for value in values])
            for measure in _MEASURES
        ],
        [list(places) for places in combinations],
        tracks,
        [(systems.index(entry.system), note) for entry, _ in found for note in _doubts(archive, entry, name)],
    )


def _doubts(archive: Archive, entry: ArchiveEntry, name: str) -> Iterator[str]:
    """What speaks against the precision by a label, in the view that pages show."""
    for note in archive.result(entry).notes:
        view, _, said = note.partition(": ")
        if view == entry.view and f"precision by {name} " in said:
            yield said


def _track(
    archive: Archive, entry: ArchiveEntry, name: str, values: Sequence[str], combinations: dict[tuple[int, ...], int]
) -> list[int]:
    """For each case the combination of values that it has, as a place among them."""
    table = archive.verdicts(entry)
    if table is None or BY + name not in table.column_names:
        return []
    places = {value: place for place, value in enumerate(values)}
    rows = (tuple(places[value] for value in own if value in places) for own in table.column(BY + name).to_pylist())
    return [combinations.setdefault(row, len(combinations)) for row in rows]


def _score(group: Group | None, measure: str) -> float | None:
    value = None if group is None else group.measures.get(measure)
    return None if value is None else round(value, 5)


def _grouping(name: str) -> Grouping | None:
    """What is known of a label; a dimension of categories and a key of metadata are known by their names alone."""
    try:
        return get("labels", name.replace("_", "-"), Grouping)
    except KaratError:
        return None
