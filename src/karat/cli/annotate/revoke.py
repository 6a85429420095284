"""`karat annotate revoke STORE WORKER`."""

from __future__ import annotations

import click

from karat.cli.campaigns import revoke_worker
from karat.cli.options.declaration import karat_command, option


@karat_command()
@click.argument("store")
@click.argument("worker")
@option("--lift", is_flag=True, help="Let the annotator enter again, by a new invitation.")
def command(store: str, worker: str, lift: bool) -> None:
    """Revoke the access of an annotator.

    Sessions and links to the lead page end at once, documents in progress go to other annotators, and invitations
    of this worker no longer work. Finished documents stay and count; `karat annotate anonymise` deletes the
    identity.
    """
    from karat.protocols.annotation.store.store import AnnotationStore

    revoke_worker(AnnotationStore.open(store), worker, lift=lift)
