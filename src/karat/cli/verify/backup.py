"""`karat verify backup STORE --out FILE`."""

from __future__ import annotations

import click


@click.command()
@click.argument("store")
@click.option("--out", required=True, metavar="FILE", help="The copy: JSONL, compressed as its name says (.gz, .zst).")
def command(store: str, out: str) -> None:
    """Copy all of a campaign as it is at one moment, also while it is served.

    The copy names persons, and holds what signs invitations: keep it as the database. `karat verify restore` puts it
    into an empty database of either kind.
    """
    from karat.storage.files import writing
    from karat.verification.store.copies import backup
    from karat.verification.store.store import CampaignStore

    kept = CampaignStore.open(store)
    with writing(out) as file:
        for line in backup(kept.database):
            file.write(line)
    kept.database.close()
