"""Projects as files of annotation tools, and projects from such files.

A file has the texts, the labels, notes and status of each annotator, suggestions, the adjudicated labels, and as
metadata the options and guidelines of the project. The history of labels, times and rounds stay in the project.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec

from karat.matching.read.text_alignment import match_ids_by_text
from karat.model.document import Label, Prediction, Response
from karat.model.errors import InputError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.spec.annotations import AnnotatedCorpus, AnnotatedDocument, AnnotatorVersion, NotedLabels
from karat.protocols.annotation.changes import AnnotatedLabel, Change, Record, RegionDecision, apply_changes
from karat.protocols.annotation.export import build_metadata
from karat.protocols.annotation.gold import AdjudicatedDocument, adjudicate_document, build_document, group_records
from karat.protocols.annotation.project import AnnotationTask, Guidelines, Project, ProjectOptions, Suggestion
from karat.protocols.annotation.regions import describe_label
from karat.protocols.annotation.version_pairs import VersionAgreement

_T = TypeVar("_T")

SUGGESTIONS: Final = "suggestions"
"""Name of the system under which suggestions are written, since annotators must not see which system made them."""
ADJUDICATED: Final = "adjudicated"
"""Name of the annotator for the labels of a document that has adjudicated labels only."""
_OPTIONS_KEY, _GUIDELINES_KEY = "project-json", "guidelines-json"


def build_annotated_corpus(
    project: Project, records: Sequence[Record], agreement: VersionAgreement | None, names: Mapping[str, str]
) -> AnnotatedCorpus:
    """Return all documents of a project with the labels of all annotators, for the file of an annotation tool.

    `names` has the name of each annotator in the file by pseudonym; others appear under their pseudonyms.
    """
    by_task = group_records(records)
    documents = tuple(_build_document(project, task, by_task.get(task.number, ()), names) for task in project.tasks)
    metadata = {
        **build_metadata(project, records, agreement),
        _OPTIONS_KEY: msgspec.json.encode(project.options).decode(),
        _GUIDELINES_KEY: msgspec.json.encode(project.guidelines).decode(),
    }
    return AnnotatedCorpus(project.options.name, documents, metadata)


def _build_document(
    project: Project, task: AnnotationTask, records: Sequence[Record], names: Mapping[str, str]
) -> AnnotatedDocument:
    """Return a document with the versions of its annotators, suggestions, and adjudicated labels if it has them."""
    document = adjudicate_document(task, records)
    people = dict.fromkeys(record.annotator for record in records if isinstance(record, Change))
    predictions = tuple(
        Prediction(label.start, label.end, label.entity, types=label.types, nil_cluster=label.nil_cluster)
        for label in (suggestion.label for suggestion in task.suggestions)
    )
    return AnnotatedDocument(
        build_document(task, ()),
        tuple(_build_version(task, document, records, person, names.get(person, person)) for person in people),
        _to_noted_labels(task, document.labels) if _is_adjudicated(project, document) else None,
        {SUGGESTIONS: Response(task.document, predictions)} if predictions else {},
    )


def _is_adjudicated(project: Project, document: AdjudicatedDocument) -> bool:
    """Return whether enough annotators finished a document and no region is undecided."""
    n_finished = sum(version.is_finished for version in document.versions.values())
    return n_finished >= project.options.annotators and not document.n_open


def _build_version(
    task: AnnotationTask, document: AdjudicatedDocument, records: Iterable[Record], person: str, name: str
) -> AnnotatorVersion:
    """Return the labels of an annotator: those of the finished version, or the current ones."""
    changes = [record for record in records if isinstance(record, Change) and record.annotator == person]
    version = document.versions.get(person)
    if version is not None and version.is_finished:
        return AnnotatorVersion(name, _to_noted_labels(task, version.labels))
    labels = [label for label in apply_changes(changes).values() if label is not None]
    skip = changes[-1] if changes[-1].kind == "skip" else None
    content = _to_noted_labels(task, labels)
    return AnnotatorVersion(name, content, "open" if skip is None else "skipped", "" if skip is None else skip.reason)


def _to_noted_labels(task: AnnotationTask, items: Sequence[AnnotatedLabel]) -> NotedLabels:
    """Return labels in the order of the text, with the notes of those that mean the same."""
    notes = {describe_label(item.label)[:3]: item.note for item in items if item.note}
    labels = build_document(task, items).labels
    keys = [describe_label(label)[:3] for label in labels]
    return NotedLabels(labels, {index: notes[key] for index, key in enumerate(keys) if key in notes})


def count_unstored(project: Project, records: Iterable[Record]) -> dict[str, int]:
    """Count what no file of an annotation tool holds, by description; it stays in the project."""
    records = list(records)
    counts = {
        "changes with their times (the file has the current labels)": sum(isinstance(r, Change) for r in records),
        "reasons of adjudicators": sum(isinstance(r, RegionDecision) and bool(r.reason) for r in records),
        "systems behind suggestions": len(project.options.sources),
    }
    return {name: count for name, count in counts.items() if count}


class ImportedVersion(NamedTuple):
    """The labels of an annotator in a document, to be imported."""

    annotator: str
    """Name of the annotator."""
    task: AnnotationTask
    """The document."""
    version: AnnotatorVersion
    """The labels with notes and status."""

    @property
    def labels(self) -> list[AnnotatedLabel]:
        """The labels with their notes."""
        content = self.version.content
        return [AnnotatedLabel(label, content.notes.get(index, "")) for index, label in enumerate(content.labels)]


def name_annotator(annotated: AnnotatedCorpus, annotator: str) -> AnnotatedCorpus:
    """Return a file with the labels of one annotator as the version of an annotator of this name.

    Raise `InputError` if the file names its annotators.
    """
    if any(item.versions for item in annotated.documents):
        raise InputError(
            annotated.name,
            actual="labels of annotators with names",
            expected="the labels of one annotator without a name",
            remedy="Remove --annotator",
        )
    documents = (
        item
        if item.gold is None
        else msgspec.structs.replace(item, versions=(AnnotatorVersion(annotator, item.gold),), gold=None)
        for item in annotated.documents
    )
    return msgspec.structs.replace(annotated, documents=tuple(documents))


def create_imported_project(
    name: str, annotated: AnnotatedCorpus, guidelines: tuple[Guidelines, ...], consent: str
) -> Project:
    """Create a project with the documents of a file; predictions become suggestions.

    Options, and guidelines unless given, are those in the file if Karat wrote it. Otherwise, each document needs as
    many annotators as the document with the most versions has.
    """
    tasks = tuple(_build_task(number, item) for number, item in enumerate(annotated.documents))
    n_annotators = max((len(_list_versions(item)) for item in annotated.documents), default=1)
    options = ProjectOptions(
        name=name,
        documents=len(tasks),
        annotators=max(1, n_annotators),
        span="document" if all((task.start, task.end) == (0, len(task.text)) for task in tasks) else "given",
        prefill="all" if any(task.suggestions for task in tasks) else "none",
        consent=consent,
    )
    written = _decode_metadata(annotated, _OPTIONS_KEY, ProjectOptions)
    versions = _decode_metadata(annotated, _GUIDELINES_KEY, tuple[Guidelines, ...])
    return Project(
        options if written is None else msgspec.structs.replace(written, name=name), tasks, guidelines or versions or ()
    )


def _decode_metadata(annotated: AnnotatedCorpus, key: str, kind: type[_T]) -> _T | None:
    """Return a value in the metadata of a file; None if there is none. Raise `InputError` if it is damaged."""
    if key not in annotated.metadata:
        return None
    try:
        return decode_json(annotated.metadata[key], kind)
    except JsonError as problem:
        raise InputError(
            annotated.name,
            actual=f"the metadata {key} that cannot be read ({problem})",
            expected="the metadata as Karat wrote them",
            remedy="Export the project again",
        ) from None


def _build_task(number: int, item: AnnotatedDocument) -> AnnotationTask:
    """Return the document of a project, with predictions as suggestions."""
    document = item.document
    start, end = document.evaluation_span or (0, len(document.text))
    mentions: dict[object, tuple[Label, list[str]]] = {}
    for system, response in item.predictions.items():
        for prediction in response.predictions:
            if start <= prediction.start and prediction.end <= end:
                label = Label(
                    prediction.start,
                    prediction.end,
                    prediction.entity,
                    types=prediction.types,
                    nil_cluster=prediction.nil_cluster,
                )
                mentions.setdefault(describe_label(label)[:3], (label, []))[1].append(system)
    ordered = sorted(mentions.values(), key=lambda pair: (pair[0].start, -pair[0].end, str(pair[0].entity)))
    suggestions = tuple(
        Suggestion(f"s{index}", label, tuple(name for name in dict.fromkeys(systems) if name != SUGGESTIONS))
        for index, (label, systems) in enumerate(ordered)
    )
    return AnnotationTask(number, document.id, document.text, start, end, suggestions, document.meta)


def _list_versions(item: AnnotatedDocument) -> tuple[AnnotatorVersion, ...]:
    """Return the versions of a document; adjudicated labels alone are the version of an annotator of that name."""
    if item.versions or item.gold is None:
        return item.versions
    return (AnnotatorVersion(ADJUDICATED, item.gold),)


def pair_with_tasks(tasks: Iterable[AnnotationTask], annotated: AnnotatedCorpus) -> tuple[AnnotatedCorpus, int]:
    """Return the file with the ids of the project for documents that it has under other ids, and their number."""
    texts = {task.document: task.text for task in tasks}
    new_ids = match_ids_by_text(texts, {item.document.id: item.document.text for item in annotated.documents})
    documents = tuple(
        msgspec.structs.replace(item, document=msgspec.structs.replace(item.document, id=new_ids[item.document.id]))
        if item.document.id in new_ids
        else item
        for item in annotated.documents
    )
    return msgspec.structs.replace(annotated, documents=documents), len(new_ids)


def list_imports(
    tasks: Iterable[AnnotationTask], annotated: AnnotatedCorpus
) -> tuple[list[ImportedVersion], dict[int, NotedLabels]]:
    """Return the versions to import into documents of a project, and adjudicated labels by number of the document.

    Raise `InputError` for a document that the project does not have, or has with another text.
    """
    by_id = {task.document: task for task in tasks}
    versions: list[ImportedVersion] = []
    gold: dict[int, NotedLabels] = {}
    for item in annotated.documents:
        task = by_id.get(item.document.id)
        if task is None or task.text != item.document.text:
            raise InputError(
                item.location or annotated.name,
                actual=f"the document {item.document.id!r}, which the project "
                + ("does not have" if task is None else "has with another text"),
                expected="documents of the project with the same texts",
                remedy="Import the file into a new project, or export the documents of this project again",
            )
        versions += [ImportedVersion(version.annotator, task, version) for version in _list_versions(item)]
        if item.versions and item.gold is not None:
            gold[task.number] = item.gold
    return versions, gold


def select_region_labels(gold: NotedLabels, start: int, end: int) -> tuple[AnnotatedLabel, ...]:
    """Return the adjudicated labels that are inside a region, with their notes."""
    return tuple(
        AnnotatedLabel(label, gold.notes.get(index, ""))
        for index, label in enumerate(gold.labels)
        if start <= label.start and label.end <= end
    )


def count_outside(gold: NotedLabels, regions: Iterable[tuple[int, int]]) -> int:
    """Count the adjudicated labels that are in no region, where no annotator marked anything."""
    spans = list(regions)
    return sum(not any(start <= label.start and label.end <= end for start, end in spans) for label in gold.labels)
