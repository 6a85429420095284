"""`karat verify import STORE FILE`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command
from karat.cli.output import echo


@karat_command()
@click.argument("store")
@click.argument("file")
def command(store: str, file: str) -> None:
    """Import exported judgements.

    FILE comes from `karat verify export` of a copy of the same campaign. Judgements that STORE already has are skipped.
    """
    from karat.protocols.verification.store.backups import import_judgements
    from karat.protocols.verification.store.store import CampaignStore
    from karat.storage.files import Source

    source, campaign_store = Source(file), CampaignStore.open(store)
    with source.open_stream() as lines:
        new, present = import_judgements(campaign_store, source.label, lines)
    echo(f"{new} new, {present} already present")
    campaign_store.database.close()
