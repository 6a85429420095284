"""Labels of annotators and the adjudicated gold standard, computed from the records of a project.

An annotator's version of a document is its state when the annotator last finished it, or the adjudicated labels with
which a later round began. A reopened or skipped document has no version until it is finished again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.errors import UsageError
from karat.protocols.annotation.changes import AnnotatedLabel, Change, Record, RegionDecision, apply_changes
from karat.protocols.annotation.project import AnnotationTask, Project
from karat.protocols.annotation.regions import (
    Region,
    choose_agreed_version,
    describe_label,
    find_decision,
    find_parents,
    find_regions,
    get_entity,
    get_text_order,
    group_mentions,
    prefix_mention_ids,
)


class DocumentVersion(msgspec.Struct, frozen=True):
    """An annotator's labels of a document when the annotator finished it, or when a later round began."""

    labels: tuple[AnnotatedLabel, ...]
    """The labels."""
    time: str
    """Time on the server, in ISO 8601."""
    round: int
    """Number of the round."""
    is_finished: bool = True
    """Whether the annotator finished the document; false for the adjudicated labels that begin a round."""


class AdjudicatedRegion(msgspec.Struct, frozen=True):
    """A region with the decision of an adjudicator, if it needs one."""

    region: Region
    """The region."""
    decision: RegionDecision | None
    """The decision; None if all versions agree or the region is undecided."""

    @property
    def is_open(self) -> bool:
        """Whether annotators disagree and no adjudicator has decided."""
        return not self.region.is_agreed and self.decision is None

    @property
    def labels(self) -> tuple[AnnotatedLabel, ...]:
        """The labels of the gold standard; empty if the region is undecided."""
        if self.decision is not None:
            return self.decision.labels
        return choose_agreed_version(self.region) if self.region.is_agreed else ()


class AdjudicatedDocument(msgspec.Struct, frozen=True):
    """A document with the versions of its annotators and the state of adjudication."""

    task: AnnotationTask
    """The document."""
    versions: Mapping[str, DocumentVersion]
    """Version of each annotator, by pseudonym."""
    regions: tuple[AdjudicatedRegion, ...]
    """All regions, in the order of the text."""

    @property
    def n_open(self) -> int:
        """Number of undecided regions."""
        return sum(region.is_open for region in self.regions)

    @property
    def labels(self) -> tuple[AnnotatedLabel, ...]:
        """The labels of all decided and agreed regions, with distinct mention ids."""
        return tuple(
            label
            for number, region in enumerate(self.regions)
            for label in prefix_mention_ids(region.labels, f"{number}-")
        )


class GoldStandard(msgspec.Struct, frozen=True):
    """The adjudicated documents of a project, and what is missing."""

    documents: tuple[Document, ...]
    """Documents without undecided regions that enough annotators finished, by id."""
    counts: Mapping[str, int]
    """Counts of documents, regions and dropped labels, by description."""

    @property
    def is_complete(self) -> bool:
        """Whether all documents of the project are included."""
        return self.counts["documents"] == len(self.documents)

    def to_corpus(self, name: str, metadata: Mapping[str, str] | None = None) -> Corpus:
        """Return the documents as a corpus; raise `UsageError` if there are none."""
        if not self.documents:
            raise UsageError(
                "the project has no adjudicated document yet. Annotators must finish documents, and an adjudicator "
                "must decide where they disagree."
            )
        return Corpus.from_reader(self.documents, name=name, metadata=metadata)


def group_records(records: Iterable[Record]) -> dict[int, list[Record]]:
    """Return the records by number of the document, in their order."""
    by_task: dict[int, list[Record]] = defaultdict(list)
    for record in records:
        by_task[record.task].append(record)
    return by_task


def collect_history(records: Iterable[Record]) -> dict[str, list[DocumentVersion | None]]:
    """Return the versions of each annotator of one document, oldest first, by pseudonym.

    None marks a reopened or skipped document.
    """
    labels: dict[str, dict[str, AnnotatedLabel | None]] = defaultdict(dict)
    history: dict[str, list[DocumentVersion | None]] = defaultdict(list)
    for record in records:
        if not isinstance(record, Change):
            continue
        annotator = record.annotator
        labels[annotator] = apply_changes([record], labels[annotator])
        if record.kind in ("finish", "round"):
            current = tuple(label for label in labels[annotator].values() if label is not None)
            is_finished = record.kind == "finish"
            history[annotator].append(DocumentVersion(current, record.server_time, record.round, is_finished))
        elif record.kind in ("reopen", "skip"):
            history[annotator].append(None)
    return history


def collect_versions(records: Iterable[Record]) -> dict[str, DocumentVersion]:
    """Return the current version of one document of each annotator who has one, by pseudonym in sorted order."""
    history = collect_history(records)
    latest = {annotator: history[annotator][-1] for annotator in sorted(history) if history[annotator]}
    return {annotator: version for annotator, version in latest.items() if version is not None}


def adjudicate_document(task: AnnotationTask, records: Iterable[Record]) -> AdjudicatedDocument:
    """Return the versions, regions and decisions of a document; `records` are all records of it, oldest first."""
    records = list(records)
    versions = collect_versions(records)
    decisions = [record for record in records if isinstance(record, RegionDecision)]
    regions = find_regions({annotator: version.labels for annotator, version in versions.items()})
    return AdjudicatedDocument(
        task,
        versions,
        tuple(
            AdjudicatedRegion(region, None if region.is_agreed else find_decision(region, decisions))
            for region in regions
        ),
    )


def build_gold(project: Project, records: Iterable[Record]) -> GoldStandard:
    """Build the adjudicated gold standard.

    A document is included if as many annotators finished it as the project requires, and no region is undecided. A
    document that a later round reopened is included once they finish it again.
    """
    by_task = group_records(records)
    documents = []
    counts: Counter[str] = Counter({"documents": len(project.tasks)})
    for task in project.tasks:
        adjudicated = adjudicate_document(task, by_task.get(task.number, ()))
        n_finished = sum(version.is_finished for version in adjudicated.versions.values())
        if n_finished < project.options.annotators:
            counts["documents that too few annotators finished"] += 1
            continue
        counts["agreed regions"] += sum(region.region.is_agreed for region in adjudicated.regions)
        counts["decided regions"] += sum(region.decision is not None for region in adjudicated.regions)
        counts["undecided regions"] += adjudicated.n_open
        if adjudicated.n_open:
            counts["documents with undecided regions"] += 1
            continue
        document = build_document(task, adjudicated.labels)
        counts["repeated labels"] += len(adjudicated.labels) - len(document.labels)
        counts["notes"] += sum(bool(label.note) for label in adjudicated.labels)
        documents.append(document)
    documents.sort(key=lambda document: document.id)
    return GoldStandard(
        tuple(documents), {name: count for name, count in counts.items() if count or name == "documents"}
    )


def count_annotators(project: Project, records: Iterable[Record]) -> tuple[int, int]:
    """Return how many annotators finished a document at least and at most, of those that enough of them finished.

    The required number twice if there is no such document.
    """
    required = project.options.annotators
    finished = [
        sum(version.is_finished for version in collect_versions(task_records).values())
        for task_records in group_records(records).values()
    ]
    counts = [count for count in finished if count >= required] or [required]
    return min(counts), max(counts)


def build_annotator_corpus(project: Project, records: Iterable[Record], annotator: str) -> Corpus:
    """Return the documents that an annotator finished, with the annotator's labels, as a corpus of this name.

    Raise `UsageError` if there are none.
    """
    by_task = group_records(records)
    versions = {task.number: collect_versions(by_task.get(task.number, ())) for task in project.tasks}
    documents = [
        build_document(task, versions[task.number][annotator].labels)
        for task in project.tasks
        if annotator in versions[task.number]
    ]
    if not documents:
        names = sorted({name for by_annotator in versions.values() for name in by_annotator})
        raise UsageError(
            f"annotator {annotator} finished no document. Pass one of {', '.join(names)}."
            if names
            else f"annotator {annotator} finished no document."
        )
    return Corpus.from_reader(sorted(documents, key=lambda document: document.id), name=annotator)


def build_document(task: AnnotationTask, labels: Iterable[AnnotatedLabel]) -> Document:
    """Return a document with labels in the order of the text; alternatives of one span keep their order.

    Mention ids become `m1`, `m2`, …, in this order, and are omitted where they group nothing. Entity ids are in normal
    form. Labels that repeat another one of the same mention, or a whole mention, are dropped. Parents that lead nowhere
    are removed.
    """
    mentions = group_mentions([item.label for item in labels])
    parents = find_parents(mentions)
    mentions = {mention: sorted(_drop_repeated(group), key=get_text_order) for mention, group in mentions.items()}
    has_parts = {parent for parent in parents.values() if parent is not None}
    order = sorted(mentions, key=lambda mention: (sorted(map(_position, mentions[mention])), mention))
    seen: set[object] = set()
    spans: set[object] = set()
    names: dict[str, str] = {}
    distinct = []
    for mention in order:
        group = mentions[mention]
        is_bare = mention not in has_parts and parents[mention] is None
        content = tuple(sorted(map(_position, group)))
        if is_bare and content in seen:
            continue
        seen.add(content)
        distinct.append(mention)
        links = {describe_label(label)[:3] for label in group}
        if len(group) > 1 or not is_bare or not links.isdisjoint(spans):
            names[mention] = f"m{len(names) + 1}"
        spans |= links
    result = [
        msgspec.structs.replace(
            label,
            entity=get_entity(label),
            name=label.name if isinstance(label.entity, str) else None,
            mention_id=names.get(mention),
            parent=None if (parent := parents[mention]) is None else names[parent],
        )
        for mention in distinct
        for label in mentions[mention]
    ]
    result.sort(key=get_text_order)
    span = None if (task.start, task.end) == (0, len(task.text)) else (task.start, task.end)
    return Document(task.document, task.text, tuple(result), evaluation_span=span, meta=dict(task.meta))


def _drop_repeated(labels: Sequence[Label]) -> list[Label]:
    """Return the labels of one mention without those whose span and entity another one has."""
    distinct: dict[object, Label] = {}
    for label in labels:
        distinct.setdefault(describe_label(label)[:3], label)
    return list(distinct.values())


def _position(label: Label) -> tuple[object, ...]:
    """Return the position of a label in a document: by start, longer labels first, then by content."""
    return (*get_text_order(label), repr(describe_label(label)))
