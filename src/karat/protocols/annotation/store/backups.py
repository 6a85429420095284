"""Restored backups of annotation projects."""

from __future__ import annotations

from collections.abc import Iterable

from karat.protocols.annotation.changes import AnnotatedLabel, Change, DocumentState, LabelEdit
from karat.protocols.annotation.project import AnnotationTask, ProjectOptions
from karat.protocols.annotation.store.store import AnnotationStore, decode_progress, decode_record
from karat.protocols.campaigns.backup_rows import TableRows, get_properties, row_error
from karat.protocols.campaigns.backups import restore_tables
from karat.protocols.campaigns.participants import decode_stored
from karat.protocols.campaigns.tables import RECORDS, TASKS
from karat.storage.database import Database


def restore_backup(target: str, label: str, lines: Iterable[bytes]) -> AnnotationStore:
    """Restore a backup into an empty database of any kind, and return its store.

    `target` is the address of the database; `label` names the backup in errors. Raise `InputError` if the backup is
    invalid or the database contains a campaign. All rows are checked before the first one is stored, and a failure
    leaves no new file.
    """
    return restore_tables(target, label, lines, AnnotationStore.command, _check_content, _open_store)


def _open_store(database: Database, _: bool) -> AnnotationStore:
    """Return the store of a restored database."""
    return AnnotationStore(database)


def _check_content(label: str, tables: TableRows) -> None:
    """Raise `InputError` if options, documents or records in a backup are invalid."""
    properties = get_properties(tables)
    decode_stored(properties["options"], ProjectOptions, f"{label}: options", "annotate")
    decode_progress(properties, label)
    tasks: dict[int, AnnotationTask] = {}
    for row in tables[TASKS.name]:
        where = f"{label}: document {row['number']}"
        task = decode_stored(row["content"], AnnotationTask, where, "annotate")
        is_consistent = (task.number, task.document, task.start) == (row["number"], row["document"], row["start"])
        labels = [suggestion.label for suggestion in task.suggestions]
        has_spans = all(task.start <= item.start < item.end <= task.end for item in labels)
        if not (is_consistent and has_spans and 0 <= task.start <= task.end <= len(task.text)):
            raise row_error(where, "a document that contradicts its row or its text")
        tasks[task.number] = task
    states: dict[tuple[str, int], DocumentState] = {}
    for row in tables[RECORDS.name]:
        where = f"{label}: record {row['seq']}"
        record = decode_record(row["content"], where)
        if (record.id, record.annotator, record.task) != (row["id"], row["judge"], row["task"]):
            raise row_error(where, "a record that contradicts its row")
        if record.task not in tasks:
            raise row_error(where, f"a record of the unknown document {record.task}")
        if isinstance(record, Change):
            key = (record.annotator, record.task)
            states[key] = _extend_state(where, states.get(key, DocumentState()), record)
        spans = record.edits if isinstance(record, Change) else record.labels
        if not all(_has_span(tasks[record.task], item) for item in spans):
            raise row_error(where, "a label outside its document")


def _extend_state(where: str, state: DocumentState, change: Change) -> DocumentState:
    """Return the labels after a change; raise `InputError` if the change does not fit them."""
    try:
        return state.extend([change])
    except ValueError as problem:
        raise row_error(where, str(problem)) from None


def _has_span(task: AnnotationTask, item: LabelEdit | AnnotatedLabel) -> bool:
    """Return whether the label of an edit or decision, if any, is inside the document."""
    label = item.after if isinstance(item, LabelEdit) else item
    return not isinstance(label, AnnotatedLabel) or 0 <= label.label.start < label.label.end <= len(task.text)
