"""`karat annotate history STORE [DOCUMENT]`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.output import page_width, print_page


@karat_command()
@click.argument("store")
@click.argument("documents", nargs=-1, metavar="[DOCUMENT]...")
@option("--label", metavar="ID", help="Id of the only label to show.")
def command(store: str, documents: tuple[str, ...], label: str | None) -> None:
    """Show the history of every label of a document.

    Each line is a change of one label by an annotator, or a decision of an adjudicator, oldest first. Without DOCUMENT,
    all documents are shown. People have pseudonyms; `karat annotate annotators` lists them.
    """
    from karat.model.errors import UnknownNameError
    from karat.protocols.annotation.store.store import AnnotationStore
    from karat.render.annotation.annotators import render_history

    annotation_store = AnnotationStore.open(store)
    tasks = annotation_store.project.tasks
    for document in documents:
        if document not in {task.document for task in tasks}:
            raise UnknownNameError("document", document, [task.document for task in tasks])
    selected = [task for task in tasks if not documents or task.document in documents]
    pages = [render_history(task, annotation_store.get_task_records(task), label, page_width()) for task in selected]
    print_page(lambda: "\n".join(pages))
    annotation_store.database.close()
