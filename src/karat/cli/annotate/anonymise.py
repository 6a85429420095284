"""`karat annotate anonymise STORE WORKER`."""

from __future__ import annotations

import click

from karat.cli.campaigns import anonymise_worker
from karat.cli.options.declaration import karat_command


@karat_command()
@click.argument("store")
@click.argument("worker")
def command(store: str, worker: str) -> None:
    """Delete the identity of an annotator.

    The labels and their history stay, under a pseudonym.
    """
    from karat.protocols.annotation.store.store import AnnotationStore

    anonymise_worker(AnnotationStore.open(store), worker, "annotator")
