"""Annotators of a project and the history of their labels, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import UnsetType

from karat.data.convert import VALUE_ENTITIES
from karat.protocols.annotation.changes import AnnotatedLabel, Change, LabelState, Record, RegionDecision
from karat.protocols.annotation.regions import get_entity
from karat.render.tables import draw_text

if TYPE_CHECKING:
    from karat.protocols.annotation.project import AnnotationTask
    from karat.protocols.annotation.store.store import AnnotatorStatus


def render_annotators(annotators: Sequence[AnnotatorStatus], width: int | None = None) -> str:
    """Render the annotators as a table: worker, pseudonym, role, documents by state, changes and access.

    `width`: columns to wrap at; None does not wrap.
    """
    if not annotators:
        return "no annotator has entered"
    head = ["worker", "pseudonym", "role", "done", "open", "skipped", "changes", "access"]
    rows = [
        [
            "(anonymised)" if person.worker is None else person.worker,
            person.annotator,
            person.role,
            *map(str, (person.done, person.open, person.skipped, person.changes)),
            "revoked" if person.is_revoked else "yes",
        ]
        for person in annotators
    ]
    return str(draw_text([head, *rows], (0, 1, 2, 7), width=width))


def render_history(
    task: AnnotationTask, records: Iterable[Record], label: str | None = None, width: int | None = None
) -> str:
    """Render the history of a document as a table: one row for each label of a change or decision, oldest first.

    With `label`, only the label with this id is shown. `width`: columns to wrap at; None does not wrap.
    """
    head = ["time", "by", "change", "label", "before", "after", "reason"]
    rows = [row for record in records for row in _list_rows(task, record) if label in (None, row[3])]
    table = draw_text([head, *rows], tuple(range(7)), width=width) if rows else "no change"
    return f"{task.document}\n\n{table}\n"


def _list_rows(task: AnnotationTask, record: Record) -> Iterator[list[str]]:
    """Yield the rows of the history that a record makes."""
    start = [record.server_time.partition(".")[0], record.annotator]
    if isinstance(record, RegionDecision):
        labels = " + ".join(_describe(task, label) for label in record.labels)
        yield [*start, "decision", "", f"{record.start}–{record.end}", labels or "nothing", record.reason]
    elif isinstance(record, Change) and not record.edits:
        yield [*start, record.kind, "", "", "", record.reason]
    else:
        suggested = {suggestion.id: AnnotatedLabel(suggestion.label) for suggestion in task.suggestions}
        for edit in record.edits:
            is_rejected = edit.after is None and isinstance(edit.before, UnsetType) and edit.id in suggested
            before = _describe(task, suggested[edit.id] if is_rejected else edit.before)
            after = "rejected" if is_rejected else _describe(task, edit.after)
            yield [*start, record.kind, edit.id, before, after, record.reason]


def _describe(task: AnnotationTask, state: LabelState) -> str:
    """Return a label as text with its entity; empty if there is none."""
    if not isinstance(state, AnnotatedLabel):
        return "deleted" if state is None else ""
    label = state.label
    id = get_entity(label)
    entity = "unlinked" if isinstance(id, UnsetType) else id or "NIL"
    cluster = "" if label.nil_cluster is None else f"cluster {label.nil_cluster}"
    kind = "" if id in VALUE_ENTITIES.values() else label.kind or ""
    marks = [cluster, kind, "optional" if label.optional else "", *label.types, *label.categories]
    details = "".join(f", {mark}" for mark in marks if mark)
    return f"{task.text[label.start : label.end]} → {entity}{details}"
