"""Scores by facet: types, fine-grained categories, mention types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from karat.model.errors import UsageError
from karat.model.results.result import GroupScores
from karat.model.tables.facet_values import NONE
from karat.web.archive.archive import Archive, ArchiveEntry
from karat.web.archive.case_table import FACET_PREFIX
from karat.web.archive.leaderboard import count_gold, find_facet, get_group_scores, has_groups
from karat.web.archive.resource import Resource
from karat.web.archive.rounding import round_score
from karat.web.archive.shape import FacetGroup, FacetScores, FacetTrack, GroupsResource, GroupTable

_UNDECIDED = "undecided"
"""The value of mentions for which the knowledge base cannot tell; it comes after all others, however frequent it is."""

_MEASURES = ("micro.f1", "micro.p", "micro.r")


def build_groups(archive: Archive, key: str) -> GroupsResource:
    """Build the scores of every system on the dataset `key` by each facet that was scored; raise if there are none."""
    systems = archive.systems
    entries = sorted(archive.get_entries(key), key=lambda entry: systems.index(entry.system))
    scored_entries = [(entry, scores) for entry in entries if (scores := get_group_scores(archive, entry))]
    if not scored_entries:
        raise UsageError("the archive has no scores by facet. Pass `--by FACET` to `karat report`.")
    names = dict.fromkeys(name for _, scores in scored_entries for name in scores)
    type_names = {id: name for entry, _ in scored_entries for id, name in entry.types.items()}
    return GroupsResource(
        archive.datasets[key].dataset,
        scored_entries[0][0].view,
        [
            _build_facet(
                archive,
                name,
                [(entry, scores[name]) for entry, scores in scored_entries if name in scores],
                systems,
                type_names,
            )
            for name in names
        ],
    )


def _build_facet(
    archive: Archive,
    name: str,
    scored_entries: Sequence[tuple[ArchiveEntry, Mapping[str, GroupScores]]],
    systems: Sequence[str],
    type_names: Mapping[str, str],
) -> FacetScores:
    """Build the scores by one facet: its groups by size, tables of measures, and the groups of every case.

    `scored_entries` are the entries with their scores by group, `systems` is the order of columns, and `type_names` has
    the titles of groups that are types.
    """
    gold: dict[str, int] = {}
    for value, group in (item for _, scores in scored_entries for item in scores.items()):
        gold[value] = max(gold.get(value, 0), count_gold(group))
    values = sorted(gold, key=lambda value: (value == NONE, value == _UNDECIDED, -gold[value], value))
    scores_by_system = {entry.system: scores for entry, scores in scored_entries}
    by_system = [scores_by_system.get(system, {}) for system in systems]
    combinations: dict[tuple[int, ...], int] = {}
    tracks = [
        FacetTrack(systems.index(entry.system), scores)
        for entry, _ in scored_entries
        if (scores := _index_groups(archive, entry, name, values, combinations))
    ]
    facet = find_facet(name)
    return FacetScores(
        name,
        name if facet is None else facet.title,
        "Values as they are in the data." if facet is None else facet.description,
        "" if facet is None else facet.example,
        [FacetGroup(value, type_names.get(value, value), gold[value]) for value in values],
        [
            _build_table(measure, [[scores.get(value) for scores in by_system] for value in values])
            for measure in _MEASURES
        ],
        [list(indices) for indices in combinations],
        tracks,
        [
            (systems.index(entry.system), note)
            for entry, _ in scored_entries
            for note in _find_caveats(archive, entry, name)
        ],
    )


def _find_caveats(archive: Archive, entry: ArchiveEntry, name: str) -> Iterator[str]:
    """Yield the notes of an entry that question the precision by the facet `name` in the headline view."""
    for note in archive.read_result(entry).notes:
        views, _, message = note.partition(": ")
        if entry.view in views.split(", ") and f"precision by {name} " in message:
            yield message


def _index_groups(
    archive: Archive, entry: ArchiveEntry, name: str, values: Sequence[str], combinations: dict[tuple[int, ...], int]
) -> list[int]:
    """Return for each case the index of its combination of groups; empty if the entry has no cases.

    `values` are the groups in order. New combinations (indices of groups) are added to `combinations`.
    """
    table = archive.read_verdicts(entry)
    if table is None or FACET_PREFIX + name not in table.column_names:
        return []
    indices = {value: index for index, value in enumerate(values)}
    rows = (
        tuple(indices[value] for value in case_values if value in indices)
        for case_values in table.column(FACET_PREFIX + name).to_pylist()
    )
    return [combinations.setdefault(row, len(combinations)) for row in rows]


def _build_table(measure: str, rows: Sequence[Sequence[GroupScores | None]]) -> GroupTable:
    """Build the table of one measure: `rows` has the scores of each group, None for systems without the group."""
    intervals = [[None if group is None else group.intervals.get(measure) for group in row] for row in rows]
    counts = [[_get_counts(group, of_predictions=measure == "micro.p") for group in row] for row in rows]
    return GroupTable(
        measure,
        [[None if group is None else round_score(group.measures.get(measure)) for group in row] for row in rows],
        [[None if ends is None else round_score(ends[0]) for ends in row] for row in intervals],
        [[None if ends is None else round_score(ends[1]) for ends in row] for row in intervals],
        [[None if pair is None else round_score(pair[0]) for pair in row] for row in counts],
        [[None if pair is None else round_score(pair[1]) for pair in row] for row in counts],
    )


def _get_counts(group: GroupScores | None, *, of_predictions: bool) -> tuple[float, float] | None:
    """Return the matched and all predictions, or else gold mentions, of a group; None if they are unknown."""
    if group is None or group.counts is None:
        return None
    counts = group.counts
    if of_predictions:
        return counts.matched_predictions, counts.matched_predictions + counts.unmatched_predictions
    return counts.matched_gold, counts.matched_gold + counts.unmatched_gold


RESOURCE = Resource(GroupsResource, build_groups, is_per_dataset=True, is_available=has_groups)
