"""Documents as annotators see them: their own labels, suggestions, findings, history and review."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from karat.data.lint.document_linter import DocumentLinter
from karat.kb.type_names import find_type_names
from karat.model.document import Document, Label
from karat.model.finegrained_scheme import DIMENSIONS, NODES
from karat.protocols.annotation.changes import AnnotatedLabel, Change
from karat.protocols.annotation.gold import adjudicate_document
from karat.protocols.annotation.project import AnnotationTask
from karat.protocols.annotation.rounds import OverruledRegion, find_overruled
from karat.protocols.annotation.store.store import AnnotationStore, DocumentView, StoredChange
from karat.web.annotating import payloads
from karat.web.campaigns.entities import EntityLookup
from karat.web.campaigns.payloads import EntityPayload

TYPES: Final = ("Person", "Organisation", "Place", "Miscellany")
"""Types that annotators give to labels, also to those of entities that the knowledge base lacks."""

_MAX_LINT_SECONDS: Final = 0.01  # of processor time, to lint a large document before a change is acknowledged
_SMALL_TEXT, _FEW_LABELS = 10_000, 200  # characters and labels of documents that are linted always
_CONTEXT: Final = 80  # characters before and after a region


@dataclass(frozen=True)
class DocumentDesk:
    """The documents of a project for its annotators."""

    store: AnnotationStore
    entities: EntityLookup
    linter: DocumentLinter
    _lint_seconds: dict[int, float] = field(default_factory=dict, repr=False)
    """Processor time that the linter last took, by number of the document."""

    def describe_project(self, person: str | None) -> payloads.ProjectPayload:
        """Return the project as a visitor or participant sees it."""
        options, project = self.store.options, self.store.project
        scheme = tuple(
            payloads.DimensionPayload(
                name,
                DIMENSIONS[name].title,
                tuple(payloads.CategoryPayload(leaf, NODES[leaf].title) for leaf in DIMENSIONS[name].leaves),
            )
            for name in options.scheme
            if name in DIMENSIONS
        )
        names = find_type_names(options.whitelist, None)
        return payloads.ProjectPayload(
            name=options.name,
            consent=options.consent,
            guidelines=tuple(
                payloads.GuidelinesPayload(item.name, item.version, item.text, item.since)
                for item in project.guidelines
            ),
            can_search=self.entities.can_search,
            scheme=scheme,
            types=TYPES,
            role=None if person is None else self.store.get_role(person),
            round=self.store.round,
            whitelist=tuple(names.get(type_id, type_id) for type_id in options.whitelist),
            person=None if person is None else hashlib.sha256(f"browser {person}".encode()).hexdigest()[:16],
        )

    def describe_session(self, person: str) -> payloads.SessionPayload:
        """Return role and progress of a person."""
        return payloads.SessionPayload(self.store.get_role(person), *self.store.get_progress(person))

    def list_documents(self, annotator: str) -> payloads.DocumentsPayload:
        """Return the documents of an annotator."""
        views = self.store.list_documents(annotator)
        rows = tuple(
            payloads.DocumentRow(
                self.store.get_task_name(view.task),
                view.task.document,
                view.status,
                len(view.state.current_labels),
                view.state.round_change.round if view.state.round_change is not None else 1,
                view.state.round_change is not None and _changes_labels(view.state.round_change),
            )
            for view in views
        )
        n_done, n_documents = self.store.get_progress(annotator)
        return payloads.DocumentsPayload(rows, n_done, n_documents, self.store.has_more_documents(annotator))

    def reserve_document(self, annotator: str) -> payloads.NextDocumentPayload:
        """Reserve the next document of an annotator."""
        task = self.store.lease_document(annotator)
        return payloads.NextDocumentPayload(None if task is None else self.store.get_task_name(task))

    def get_document(self, annotator: str, task: AnnotationTask) -> payloads.DocumentPayload:
        """Return a document with the labels of the annotator, and suggestions if the annotator sees them."""
        view = self.store.get_document(annotator, task)
        state = view.state
        suggestions = task.suggestions if self.store.is_prefilled(annotator, task) else ()
        labels = [
            *(item.label for item in state.current_labels.values()),
            *(suggestion.label for suggestion in suggestions),
        ]
        suggestion_ids = {suggestion.id for suggestion in task.suggestions}
        return payloads.DocumentPayload(
            name=self.store.get_task_name(task),
            document=task.document,
            text=task.text,
            start=task.start,
            end=task.end,
            state=view.status,
            revision=state.revision,
            labels=tuple(payloads.LabelPayload(id, item.label, item.note) for id, item in state.current_labels.items()),
            rejected=tuple(id for id, item in state.labels.items() if item is None and id in suggestion_ids),
            suggestions=tuple(payloads.SuggestionPayload(item.id, item.label) for item in suggestions),
            entities=look_up(self.entities, labels),
            findings=self._lint(view),
            can_undo=bool(state.done),
            can_redo=bool(state.undone),
            guidelines=max(0, len(self.store.project.guidelines) - 1),
            changed=tuple(
                payloads.OverruledPayload(region.start, region.end, region.reason)
                for region in self._find_overruled(annotator, view)
            ),
        )

    def _find_overruled(self, annotator: str, view: DocumentView) -> list[OverruledRegion]:
        """Return the regions of a document in which adjudicators decided otherwise, in earlier rounds."""
        if view.state.round_change is None:
            return []
        regions = find_overruled(view.task, self.store.get_task_records(view.task), annotator)
        return [region for region in regions if region.round < view.state.round_change.round]

    def get_findings(self, annotator: str, task: AnnotationTask) -> payloads.FindingsPayload:
        """Return the findings in a document."""
        view = self.store.get_document(annotator, task)
        return payloads.FindingsPayload(view.state.revision, self._lint(view))

    def _lint(self, view: DocumentView) -> tuple[payloads.FindingPayload, ...]:
        """Return the findings in the labels of an annotator."""
        task = view.task
        labels = sorted(
            (item.label for item in view.state.current_labels.values()), key=lambda label: (label.start, -label.end)
        )
        span = None if (task.start, task.end) == (0, len(task.text)) else (task.start, task.end)
        document = Document(task.document, task.text, tuple(labels), span)
        self.linter.look_up(document)
        begin = time.thread_time()
        findings = self.linter.lint(document)
        self._lint_seconds[task.number] = time.thread_time() - begin
        return tuple(
            payloads.FindingPayload(
                item.rule,
                item.severity,
                item.finding.description,
                item.finding.proposal,
                None if item.finding.span is None else item.finding.span.start,
                None if item.finding.span is None else item.finding.span.end,
            )
            for item in findings
        )

    def describe_change(self, stored: StoredChange) -> payloads.ChangePayload:
        """Return the receipt of a change, with findings unless linting the document takes long."""
        view = stored.view
        is_large = len(view.task.text) > _SMALL_TEXT or len(view.state.labels) > _FEW_LABELS
        is_slow = is_large and self._lint_seconds.get(view.task.number, 0.0) > _MAX_LINT_SECONDS
        return payloads.ChangePayload(
            view.state.revision,
            None if is_slow else self._lint(view),
            bool(view.state.done),
            bool(view.state.undone),
            look_up(
                self.entities,
                (edit.after.label for edit in stored.change.edits if isinstance(edit.after, AnnotatedLabel)),
            ),
        )

    def describe_undo(self, stored: StoredChange) -> payloads.UndoPayload:
        """Return the receipt of an undo or redo, with its edits."""
        receipt = self.describe_change(stored)
        edits = tuple(payloads.EditRequest(edit.id, edit.after) for edit in stored.change.edits)
        return payloads.UndoPayload(
            receipt.revision, receipt.findings, receipt.can_undo, receipt.can_redo, receipt.entities, edits
        )

    def get_history(self, annotator: str, task: AnnotationTask, label: str | None) -> payloads.HistoryPayload:
        """Return the annotator's own changes in a document, or of one label."""
        self.store.get_document(annotator, task)  # raises unless it is the annotator's
        changes = self.store.get_changes(task, annotator)
        return payloads.HistoryPayload(
            tuple(entry for change in changes for entry in describe_history(change, "you", label))
        )

    def get_review(self, annotator: str) -> payloads.ReviewPayload:
        """Return where adjudicators decided otherwise than an annotator, in documents that are fully adjudicated."""
        documents = []
        decided = self.store.get_decided_tasks()
        for view in self.store.list_documents(annotator):
            if view.task.number not in decided:
                continue
            records = self.store.get_task_records(view.task)
            regions = find_overruled(view.task, records, annotator)
            is_adjudicated = view.status == "done" and not adjudicate_document(view.task, records).n_open
            first_round = view.state.round_change.round if view.state.round_change is not None else 1
            visible = [region for region in regions if is_adjudicated or region.round < first_round]
            if visible:
                documents.append((view.task, visible))
        labels = [
            item.label for _, regions in documents for region in regions for item in (*region.labels, *region.gold)
        ]
        return payloads.ReviewPayload(
            tuple(
                payloads.ReviewDocument(
                    self.store.get_task_name(task),
                    task.document,
                    tuple(_describe_overruled(task, region) for region in regions),
                )
                for task, regions in documents
            ),
            look_up(self.entities, labels),
        )


def look_up(entities: EntityLookup, labels: Iterable[Label]) -> dict[str, EntityPayload]:
    """Return the entities of labels, by id."""
    return entities.get_entities({label.entity for label in labels if isinstance(label.entity, str)})


def describe_history(change: Change, person: str, label: str | None) -> list[payloads.HistoryEntry]:
    """Return the entries of the history that a change makes: one for each label, or one for a change of the state.

    With `label`, only the label with this id counts.
    """
    if not change.edits:
        entry = payloads.HistoryEntry(change.server_time, change.kind, person, None, None, change.reason)
        return [entry] if label is None else []
    return [
        payloads.HistoryEntry(
            change.server_time,
            change.kind,
            person,
            edit.before if isinstance(edit.before, AnnotatedLabel) else None,
            edit.after if isinstance(edit.after, AnnotatedLabel) else None,
            change.reason,
        )
        for edit in change.edits
        if label in (None, edit.id)
    ]


def _changes_labels(change: Change) -> bool:
    """Return whether a change adds or removes a label, and does not only reject suggestions."""
    return any(isinstance(state, AnnotatedLabel) for edit in change.edits for state in (edit.before, edit.after))


def _describe_overruled(task: AnnotationTask, region: OverruledRegion) -> payloads.ReviewRegion:
    """Return a region in which an adjudicator decided otherwise, with its context."""
    start, end = max(0, region.start - _CONTEXT), region.end + _CONTEXT
    return payloads.ReviewRegion(
        region.start,
        region.end,
        task.text[region.start : region.end],
        task.text[start:end],
        start,
        tuple(item.label for item in region.labels),
        tuple(item.label for item in region.gold),
        region.reason,
    )
