"""Documents as adjudicators see them: regions in which annotators disagree, and decisions."""

from __future__ import annotations

from dataclasses import dataclass, field

from karat.protocols.annotation.changes import Change, RegionDecision
from karat.protocols.annotation.gold import AdjudicatedDocument, AdjudicatedRegion, adjudicate_document
from karat.protocols.annotation.project import AnnotationTask
from karat.protocols.annotation.store.store import AnnotationStore
from karat.protocols.campaigns.participants import AccessDeniedError
from karat.web.annotating import payloads
from karat.web.annotating.documents import describe_history, look_up
from karat.web.campaigns.entities import EntityLookup


@dataclass(frozen=True)
class AdjudicationView:
    """The documents of a project for its adjudicators. Annotators are letters, in a random order per document."""

    store: AnnotationStore
    entities: EntityLookup
    _rows: dict[int, tuple[int, payloads.AdjudicationRow | None]] = field(default_factory=dict, repr=False)
    """Latest record and row of each document, by its number."""

    def list_documents(self) -> payloads.AdjudicationListPayload:
        """Return the documents that enough annotators have finished, with the numbers of open and decided regions."""
        last_records = self.store.get_last_records()
        rows = [
            self._get_row(task, last_records[task.number])
            for task in self.store.project.tasks
            if task.number in last_records
        ]
        return payloads.AdjudicationListPayload(tuple(row for row in rows if row is not None))

    def _get_row(self, task: AnnotationTask, last_record: int) -> payloads.AdjudicationRow | None:
        """Return the row of a document, computed again if it has a new record; None if it is not ready."""
        cached_row = self._rows.get(task.number)
        if cached_row is None or cached_row[0] != last_record:
            document = self.store.get_adjudicated(task)
            n_decided = sum(region.decision is not None for region in document.regions)
            name = self.store.get_task_name(task)
            row = payloads.AdjudicationRow(name, task.document, document.n_open, n_decided)
            cached_row = self._rows[task.number] = (last_record, row if self._is_ready(document) else None)
        return cached_row[1]

    def _is_ready(self, document: AdjudicatedDocument) -> bool:
        """Return whether enough annotators have finished a document."""
        return len(document.versions) >= self.store.options.annotators

    def get_document(self, task: AnnotationTask) -> payloads.AdjudicationPayload:
        """Return a document with all versions; raise `AccessDeniedError` if too few annotators have finished it."""
        document = self.store.get_adjudicated(task)
        if not self._is_ready(document):
            raise AccessDeniedError("too few annotators have finished the document. Choose another one.")
        letters = self.store.name_annotators(task, document.versions)
        gold = document.labels
        labels = [item.label for version in document.versions.values() for item in version.labels]
        return payloads.AdjudicationPayload(
            name=self.store.get_task_name(task),
            document=task.document,
            text=task.text,
            start=task.start,
            end=task.end,
            gold=tuple(payloads.LabelPayload(f"g{number}", item.label, item.note) for number, item in enumerate(gold)),
            regions=tuple(
                _describe_region(region, letters) for region in document.regions if not region.region.is_agreed
            ),
            entities=look_up(self.entities, [*(item.label for item in gold), *labels]),
            agreed=sum(region.region.is_agreed for region in document.regions),
        )

    def decide(
        self, adjudicator: str, task: AnnotationTask, request: payloads.DecisionRequest
    ) -> payloads.AdjudicationPayload:
        """Store a decision and return the document after it."""
        letters = self.store.name_annotators(task, self.store.get_adjudicated(task).versions)
        annotators = {letter: annotator for annotator, letter in letters.items()}
        choice = annotators.get(request.choice, request.choice)
        self.store.decide(adjudicator, task, request.id, request.digest, choice, request.labels, request.reason)
        return self.get_document(task)

    def get_history(self, task: AnnotationTask, label: str | None) -> payloads.HistoryPayload:
        """Return all changes and decisions in a document, or the changes of all labels with one id.

        Raise `AccessDeniedError` if too few annotators have finished the document.
        """
        records = self.store.get_task_records(task)
        document = adjudicate_document(task, records)
        if not self._is_ready(document):
            raise AccessDeniedError("too few annotators have finished the document. Choose another one.")
        people = self.store.name_annotators(
            task, {record.annotator for record in records if isinstance(record, Change)}
        )
        numbers = {person: index for index, person in enumerate(people, 1)}
        entries: list[payloads.HistoryEntry] = []
        for record in records:
            if isinstance(record, Change):
                entries += describe_history(record, f"annotator {numbers[record.annotator]}", label)
            elif label is None:
                entries += _describe_decision(record)
        return payloads.HistoryPayload(tuple(entries))


def _describe_region(item: AdjudicatedRegion, letters: dict[str, str]) -> payloads.RegionPayload:
    """Return a region in which annotators disagree, with letters in place of pseudonyms."""
    decision = item.decision
    versions = sorted((letters[annotator], labels) for annotator, labels in item.region.versions.items())
    return payloads.RegionPayload(
        item.region.start,
        item.region.end,
        item.region.digest,
        "open" if decision is None else "decided",
        tuple(payloads.VersionPayload(letter, labels) for letter, labels in versions),
        None if decision is None else letters.get(decision.choice, decision.choice),
        "" if decision is None else decision.reason,
    )


def _describe_decision(decision: RegionDecision) -> list[payloads.HistoryEntry]:
    """Return the entries of the history that a decision makes: one for each label, or one without labels."""
    return [
        payloads.HistoryEntry(decision.server_time, "decision", "adjudicator", None, label, decision.reason)
        for label in decision.labels or (None,)
    ]
