"""`karat verify anonymise STORE WORKER`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command
from karat.cli.output import echo


@karat_command()
@click.argument("store")
@click.argument("worker")
def command(store: str, worker: str) -> None:
    """Delete the identity of a judge.

    The judgements stay, under a pseudonym.
    """
    from karat.model.errors import UsageError
    from karat.protocols.verification.store.store import CampaignStore

    campaign_store = CampaignStore.open(store)
    if not campaign_store.anonymise(worker):
        raise UsageError(f"{store}: there is no judge {worker}. Check the name.")
    echo(f"{worker} is anonymised")
    campaign_store.database.close()
