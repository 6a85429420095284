"""Further rounds of annotation, which begin with the adjudicated labels, and what adjudicators decided otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from karat.protocols.annotation.changes import AnnotatedLabel, Change, LabelEdit, Record, apply_changes
from karat.protocols.annotation.gold import AdjudicatedDocument, AdjudicatedRegion, adjudicate_document, group_records
from karat.protocols.annotation.project import AnnotationTask, Project
from karat.protocols.annotation.regions import has_same_structure, prefix_mention_ids


class RoundPlan(msgspec.Struct, frozen=True):
    """The documents that a new round goes over, with the edits that give each annotator the adjudicated labels."""

    edits: Mapping[tuple[int, str], tuple[LabelEdit, ...]]
    """Edits by document number and annotator; empty if the annotator has the adjudicated labels already."""
    counts: Mapping[str, int]
    """Counts of documents by what happens to them."""


class OverruledRegion(msgspec.Struct, frozen=True):
    """A region in which the adjudicator decided otherwise than an annotator."""

    start: int
    """Start in the document."""
    end: int
    """End in the document."""
    labels: tuple[AnnotatedLabel, ...]
    """Labels of the annotator."""
    gold: tuple[AnnotatedLabel, ...]
    """Labels that the adjudicator chose."""
    reason: str
    """Reason of the adjudicator; may be empty."""
    round: int
    """Number of the round."""


def plan_round(project: Project, records: Iterable[Record], number: int) -> RoundPlan:
    """Return what the round with this number goes over: documents in which adjudication changed labels of anyone.

    Every annotator of such a document gets the adjudicated labels. Labels in regions where an annotator was not
    overruled stay as they are, with their ids. Documents with undecided regions are not part of the round.
    """
    by_task = group_records(records)
    edits: dict[tuple[int, str], tuple[LabelEdit, ...]] = {}
    counts: Counter[str] = Counter()
    for task in project.tasks:
        task_records = by_task.get(task.number, [])
        document = adjudicate_document(task, task_records)
        if len(document.versions) < project.options.annotators:
            counts["documents that too few annotators finished"] += 1
        elif document.n_open:
            counts["documents with undecided regions"] += 1
        elif not any(_is_overruled(region, name) for region in document.regions for name in document.versions):
            counts["documents without changes"] += 1
        else:
            counts["documents to go over"] += 1
            for annotator in document.versions:
                state = apply_changes(
                    item for item in task_records if isinstance(item, Change) and item.annotator == annotator
                )
                edits[task.number, annotator] = _build_edits(task, document, annotator, state, number)
    return RoundPlan(edits, dict(counts))


def find_overruled(task: AnnotationTask, records: Iterable[Record], annotator: str) -> tuple[OverruledRegion, ...]:
    """Return the regions of a document in which adjudicators decided otherwise than an annotator, in any round.

    `records` are all records of the document, oldest first.
    """
    records = list(records)
    regions: dict[str, OverruledRegion] = {}
    for number in sorted({record.round for record in records}):
        document = adjudicate_document(task, (record for record in records if record.round <= number))
        for region in document.regions:
            decision = region.decision
            if decision is not None and annotator in document.versions and _is_overruled(region, annotator):
                regions.setdefault(
                    decision.id,
                    OverruledRegion(
                        region.region.start,
                        region.region.end,
                        region.region.versions[annotator],
                        decision.labels,
                        decision.reason,
                        number,
                    ),
                )
    return tuple(sorted(regions.values(), key=lambda region: (region.start, region.round)))


def _is_overruled(region: AdjudicatedRegion, annotator: str) -> bool:
    """Return whether an adjudicator decided otherwise than an annotator."""
    return region.decision is not None and not has_same_structure(region.labels, region.region.versions[annotator])


def _build_edits(
    task: AnnotationTask,
    document: AdjudicatedDocument,
    annotator: str,
    state: Mapping[str, AnnotatedLabel | None],
    number: int,
) -> tuple[LabelEdit, ...]:
    """Return the edits that replace an annotator's labels in all regions in which the annotator was overruled.

    `state` has the annotator's labels by id. Suggestions that the annotator left undecided are rejected.
    """
    edits = [LabelEdit(item.id, None) for item in task.suggestions if item.id not in state]
    used = {label.label.mention_id for label in state.values() if label is not None}
    index = 0
    for region in document.regions:
        if not _is_overruled(region, annotator):
            continue
        old_labels = list(region.region.versions[annotator])
        edits += [LabelEdit(id, None) for id, label in state.items() if label is not None and label in old_labels]
        prefix = f"r{number}-{region.region.start}-"
        while any(name is not None and name.startswith(prefix) for name in used):
            prefix += "r"
        for label in prefix_mention_ids(region.labels, prefix):
            index += 1
            edits.append(LabelEdit(_make_id(number, index, state), label))
    return tuple(edits)


def _make_id(number: int, index: int, state: Mapping[str, object]) -> str:
    """Return the id of a label that a round adds, which differs from all ids of the annotator."""
    id = f"r{number}-{index}"
    while id in state:
        id += "r"
    return id
