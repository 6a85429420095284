"""Processor time of the server of `karat annotate` for one change, by the number of labels in a document.

    python bench/annotate_server.py --changes 200

A text of 100,000 characters gets 20, 200 or 2,000 labels in one change. Then an annotator changes one label after the
other, each with another known entity. The report has the processor time of a change on its way to the disk and back
(store), with the receipt for the browser (receipt), and of linting the document, which large documents get separately.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from karat import Label
from karat.data.lint.document_linter import DocumentLinter
from karat.kb.catalogue import open_starter
from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit
from karat.protocols.annotation.project import AnnotationTask, Project, ProjectOptions
from karat.protocols.annotation.store.store import AnnotationStore
from karat.web.annotating.documents import DocumentDesk
from karat.web.campaigns.entities import EntityLookup

_WORDS = 20_000
_TEXT = " ".join(f"{number:04}"[-4:] for number in range(_WORDS))
_ENTITIES = [f"Q{number}" for number in range(1, 51)]


def measure(folder: Path, n_labels: int, n_changes: int) -> tuple[float, float, float]:
    """Return the milliseconds of processor time for a change in the store, for its receipt, and for linting."""
    task = AnnotationTask(0, "d", _TEXT, 0, len(_TEXT))
    project = Project(ProjectOptions(name="bench", documents=1), (task,))
    store = AnnotationStore.create(str(folder / f"{n_labels}.sqlite"), project)
    kb = open_starter()
    desk = DocumentDesk(store, EntityLookup(kb), DocumentLinter(kb))
    annotator = store.find_judge(store.start_session(store.create_invitation("anna"))) or ""
    store.lease_document(annotator)
    edits = [_edit(number, number) for number in range(n_labels)]
    revision = store.submit_change(annotator, task, "all", 0, edits).view.state.revision
    desk.get_document(annotator, task)  # looks up the entities
    seconds = [0.0, 0.0]
    for number in range(n_changes):
        start = time.process_time()
        stored = store.submit_change(annotator, task, f"c{number}", revision, [_edit(number % n_labels, number + 1)])
        middle = time.process_time()
        desk.describe_change(stored)
        seconds[0] += middle - start
        seconds[1] += time.process_time() - middle
        revision = stored.view.state.revision
    start = time.process_time()
    desk.get_findings(annotator, task)
    lint_seconds = time.process_time() - start
    store.database.close()
    return 1000 * seconds[0] / n_changes, 1000 * seconds[1] / n_changes, 1000 * lint_seconds


def _edit(position: int, entity: int) -> LabelEdit:
    """Return the edit that links the word at a position."""
    span = (5 * position, 5 * position + 4)
    return LabelEdit(f"n{position}", AnnotatedLabel(Label(*span, _ENTITIES[entity % len(_ENTITIES)])))


def main() -> None:
    """Print a row for each number of labels."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=200)
    options = parser.parse_args()
    print("labels    store  receipt     lint")
    with tempfile.TemporaryDirectory() as folder:
        for n_labels in (20, 200, 2000):
            columns = measure(Path(folder), n_labels, options.changes)
            print(f"{n_labels:6,} " + "".join(f"{value:6.2f} ms" for value in columns))


if __name__ == "__main__":
    main()
