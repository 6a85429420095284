"""`karat annotate restore FILE STORE`."""

from __future__ import annotations

import click

from karat.cli.campaigns import print_restored, read_backup
from karat.cli.options.declaration import karat_command


@karat_command()
@click.argument("file")
@click.argument("store")
def command(file: str, store: str) -> None:
    """Restore a backup into an empty database.

    STORE is a new file, or postgresql://….
    """
    from karat.protocols.annotation.store.backups import restore_backup

    annotation_store = read_backup(restore_backup, file, store)
    print_restored(annotation_store, annotation_store.options.name, len(annotation_store.get_records()))
