"""`karat verify backup STORE --out FILE`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option


@karat_command()
@click.argument("store")
@option("--out", required=True, metavar="FILE", help="Backup file: JSONL, also compressed (.gz, .zst).")
def command(store: str, out: str) -> None:
    """Back up a campaign, even while it is served.

    The backup is a consistent copy. It contains the names of judges and the key that signs invitations, so protect it
    like the database. `karat verify restore` restores it into an empty SQLite or PostgreSQL database.
    """
    from karat.protocols.campaigns.backups import dump_backup
    from karat.protocols.verification.store.store import CampaignStore
    from karat.storage.atomic_writing import open_for_writing

    campaign_store = CampaignStore.open(store)
    with open_for_writing(out) as file:
        for line in dump_backup(campaign_store.database):
            file.write(line)
    campaign_store.database.close()
