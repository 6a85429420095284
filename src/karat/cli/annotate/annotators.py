"""`karat annotate annotators STORE`."""

from __future__ import annotations

import click

from karat.cli.campaigns import print_leads
from karat.cli.options.declaration import karat_command
from karat.cli.output import echo, page_width


@karat_command()
@click.argument("store")
def command(store: str) -> None:
    """List annotators with their progress.

    Only this list says which person a pseudonym belongs to.
    """
    from karat.protocols.annotation.store.store import AnnotationStore
    from karat.render.annotation.annotators import render_annotators

    annotation_store = AnnotationStore.open(store)
    echo(render_annotators(annotation_store.list_annotators(), page_width()))
    print_leads(annotation_store)
    annotation_store.database.close()
