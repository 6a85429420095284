"""`karat verify backup STORE --out FILE`."""

from __future__ import annotations

import click

from karat.cli.campaigns import backup_option, write_backup
from karat.cli.options.declaration import karat_command


@karat_command()
@click.argument("store")
@backup_option
def command(store: str, out: str) -> None:
    """Back up a campaign, even while it is served.

    The backup is a consistent copy. It contains the names of judges and the key that signs invitations, so protect it
    like the database. `karat verify restore` restores it into an empty SQLite or PostgreSQL database.
    """
    from karat.protocols.verification.store.store import CampaignStore

    write_backup(CampaignStore.open(store), out)
