"""Annotation projects in a database, annotated as the page would do it."""

from __future__ import annotations

from collections.abc import Sequence

from karat import Label
from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit
from karat.protocols.annotation.store.store import AnnotationStore


def enter(store: AnnotationStore, worker: str) -> str:
    """Let a person enter; return the pseudonym."""
    person = store.find_judge(store.start_session(store.create_invitation(worker), has_consented=True))
    assert person is not None
    return person


def annotate_next(store: AnnotationStore, annotator: str, labels: Sequence[Label]) -> str:
    """Mark labels in the annotator's next document and finish it; return the id of the document."""
    task = store.lease_document(annotator)
    assert task is not None
    edits = [LabelEdit(f"n{number}", AnnotatedLabel(label)) for number, label in enumerate(labels)]
    if edits:
        store.submit_change(annotator, task, "edit", 0, edits, seconds=30.0)
    store.finish(annotator, task, "finish")
    return task.document


def annotate_all(store: AnnotationStore, annotator: str, labels: dict[str, Sequence[Label]]) -> None:
    """Annotate all documents; `labels` has the labels by document id."""
    while (task := store.lease_document(annotator)) is not None:
        annotate_next(store, annotator, labels.get(task.document, ()))


def decide_all(store: AnnotationStore, adjudicator: str, annotator: str, reason: str = "") -> int:
    """Adopt the version of one annotator wherever annotators disagree; return the number of decisions."""
    n_decisions = 0
    for task in store.project.tasks:
        for region in store.get_adjudicated(task).regions:
            if region.is_open:
                n_decisions += 1
                id = f"decide-{region.region.start}"
                store.decide(adjudicator, task, id, region.region.digest, annotator, reason=reason)
    return n_decisions
