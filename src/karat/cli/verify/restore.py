"""`karat verify restore FILE STORE`."""

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
    from karat.protocols.verification.store.backups import restore_backup

    campaign_store = read_backup(restore_backup, file, store)
    print_restored(campaign_store, campaign_store.options.name, len(campaign_store.get_records()))
