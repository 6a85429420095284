"""`karat verify restore FILE STORE`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command
from karat.cli.output import echo


@karat_command()
@click.argument("file")
@click.argument("store")
def command(file: str, store: str) -> None:
    """Restore a backup into an empty database.

    STORE is a new file, or postgresql://….
    """
    from karat.model.output.text_layout import format_count
    from karat.protocols.verification.store.backups import restore_backup
    from karat.storage.files import Source

    source = Source(file)
    with source.open_stream() as lines:
        campaign_store = restore_backup(store, source.label, lines)
    n_records = len(campaign_store.get_records())
    echo(f"{campaign_store.database.label}: {campaign_store.options.name}, {format_count(n_records, 'record')}")
    campaign_store.database.close()
