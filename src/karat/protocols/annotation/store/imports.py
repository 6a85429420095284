"""Import of the labels of annotators from a file of an annotation tool into a project in a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from karat.matching.read.text_alignment import PAIRED_IDS
from karat.model.errors import InputError
from karat.model.spec.annotations import AnnotatedCorpus, NotedLabels
from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit
from karat.protocols.annotation.creation import CONSENT
from karat.protocols.annotation.guidelines import read_guidelines
from karat.protocols.annotation.project import AnnotationTask
from karat.protocols.annotation.regions import describe_label, has_same_structure
from karat.protocols.annotation.store.checks import MAX_EDITS, MAX_LABELS, ChangeError, check_label
from karat.protocols.annotation.store.store import AnnotationStore
from karat.protocols.annotation.tool_files import (
    ADJUDICATED,
    ImportedVersion,
    count_outside,
    create_imported_project,
    list_imports,
    pair_with_tasks,
    select_region_labels,
)
from karat.storage.database import create_database

ADJUDICATOR: Final = "imported adjudication"
"""Worker id of the adjudicator whose decisions are imported."""
_MAX_NOTE: Final = 2000


def open_or_create(
    target: str, annotated: AnnotatedCorpus, *, name: str | None = None, guidelines: str | None = None
) -> dict[str, int]:
    """Import a file into the project in a database, or into a new project if there is no such file; return counts.

    `name` and `guidelines` are those of a new project, by default those in the file. A new database is removed if the
    import fails.
    """
    if not annotated.documents:
        raise InputError(
            annotated.name,
            actual="no document",
            expected="an export with documents",
            remedy="Export the project again, or check the name of the file",
        )
    is_new = "://" not in target and not Path(target).exists()
    if not is_new:
        store = AnnotationStore.open(target)
        try:
            return import_annotations(store, annotated)
        finally:
            store.database.close()
    stated = () if guidelines is None else (read_guidelines(guidelines),)
    project = create_imported_project(name or annotated.name, annotated, stated, CONSENT)
    with create_database(target):
        store = AnnotationStore.create(target, project)
        try:
            return import_annotations(store, annotated)
        finally:
            store.database.close()


def import_annotations(store: AnnotationStore, annotated: AnnotatedCorpus) -> dict[str, int]:
    """Add the labels of all annotators and the adjudicated labels of a file to a project; return counts.

    Documents with other ids are paired by their text. Everything is checked before anything is stored. Raise
    `InputError` for documents that the project does not have, an annotator who already has a document, and labels that
    are outside the evaluation span or too long.
    """
    annotated, n_paired = pair_with_tasks(store.project.tasks, annotated)
    versions, gold = list_imports(store.project.tasks, annotated)
    _check_versions(store, versions, annotated.name)
    counts: Counter[str] = Counter({PAIRED_IDS: n_paired})
    people = {name: store.add_annotator(name) for name in dict.fromkeys(version.annotator for version in versions)}
    for version in versions:
        _import_version(store, people[version.annotator], version)
        counts[_STATUS_NAMES[version.version.status]] += 1
        counts["labels"] += len(version.labels)
    counts["annotators"] = len(people)
    tasks = {task.number: task for task in store.project.tasks}
    counts["documents with document-level entities or relations (not imported)"] = sum(
        bool(item.document.tags or item.document.relations) for item in annotated.documents
    )
    for number, labels in gold.items():
        counts.update(_import_gold(store, tasks[number], labels))
    return {name: n for name, n in counts.items() if n}


_STATUS_NAMES: Final = {
    "done": "finished documents of annotators",
    "open": "documents in progress",
    "skipped": "skipped documents",
}


def _check_versions(store: AnnotationStore, versions: Sequence[ImportedVersion], where: str) -> None:
    """Raise `InputError` about `where` if a version cannot be imported."""
    workers = {worker: person for person, worker in store.get_workers().items()}
    states = store.list_states()
    adjudicators = store.get_adjudicators()
    for annotator, task, version in versions:
        person = workers.get(annotator, annotator)
        problem, remedy = "", "Import the file into a new project"
        if (task.number, person) in states:
            problem = "labels that the project already has"
            if annotator == ADJUDICATED:  # the file names no annotator
                remedy = "Name the annotator of each file with --annotator NAME, in a new project"
        elif person in adjudicators:
            problem = "labels of an adjudicator of the project"
        elif len(version.content.labels) + len(task.suggestions) > MAX_LABELS:
            problem, remedy = f"more than {MAX_LABELS:,} labels", "Split the document"
        elif any(len(note) > _MAX_NOTE for note in version.content.notes.values()):
            problem, remedy = f"a note of more than {_MAX_NOTE:,} characters", "Shorten it"
        try:
            for label in version.content.labels:
                check_label(task, label)
        except ChangeError as error:
            problem, remedy = str(error).rstrip("."), "Correct the label in the tool"
        if problem:
            raise InputError(
                f"{where}: {task.document}, {annotator}",
                actual=problem,
                expected="new labels of valid mentions",
                remedy=remedy,
            )


def _import_version(store: AnnotationStore, person: str, imported: ImportedVersion) -> None:
    """Store the labels of an annotator in a document, then its status."""
    task, version = imported.task, imported.version
    store.assign_document(person, task)
    edits = _list_edits(imported)
    for number, start in enumerate(range(0, len(edits), MAX_EDITS)):
        store.submit_change(person, task, f"import-{number}", number, edits[start : start + MAX_EDITS])
    if version.status == "done":
        store.finish(person, task, "import-finish")
    elif version.status == "skipped":
        store.skip(person, task, "import-skip", version.reason)


def _list_edits(imported: ImportedVersion) -> list[LabelEdit]:
    """Return the edits that make the labels: suggestions that the annotator adopted, and new labels.

    Other suggestions count as rejected if the document is finished.
    """
    numbers = count()
    suggestions = {describe_label(item.label)[:3]: item.id for item in imported.task.suggestions}
    edits = []
    for label in imported.labels:
        id = suggestions.pop(describe_label(label.label)[:3], None)
        edits.append(LabelEdit(id or f"i{next(numbers)}", label))
    if imported.version.status == "done":
        edits += [LabelEdit(id, None) for id in suggestions.values()]
    return edits


def _import_gold(store: AnnotationStore, task: AnnotationTask, gold: NotedLabels) -> Mapping[str, int]:
    """Store a decision on each region in which annotators disagree; return counts."""
    document = store.get_adjudicated(task)
    if len(document.versions) < store.options.annotators:
        return {"adjudicated documents that too few annotators finished (decisions not imported)": 1}
    counts: Counter[str] = Counter()
    spans = [(item.region.start, item.region.end) for item in document.regions]
    counts["adjudicated labels where no annotator marked anything (not imported)"] += count_outside(gold, spans)
    for item in document.regions:
        region = item.region
        labels = select_region_labels(gold, region.start, region.end)
        if not item.is_open:
            counts["agreed regions with other adjudicated labels (not imported)"] += not has_same_structure(
                labels, item.labels
            )
            continue
        choice = _find_choice(labels, region.versions)
        id = f"import-{region.start}"
        adjudicator = store.add_adjudicator(ADJUDICATOR)
        store.decide(adjudicator, task, id, region.digest, choice, labels if choice == "edited" else ())
        counts["decisions of adjudicators"] += 1
    return counts


def _find_choice(labels: Iterable[AnnotatedLabel], versions: Mapping[str, Sequence[AnnotatedLabel]]) -> str:
    """Return the annotator whose version has the adjudicated labels, `none` if there are none, else `edited`."""
    items = list(labels)
    matches = (person for person, version in versions.items() if version and has_same_structure(items, version))
    return next(matches, "edited") if items else "none"
