"""`karat verify anonymise STORE WORKER`."""

from __future__ import annotations

import click

from karat.cli.campaigns import anonymise_worker
from karat.cli.options.declaration import karat_command


@karat_command()
@click.argument("store")
@click.argument("worker")
def command(store: str, worker: str) -> None:
    """Delete the identity of a judge.

    The judgements stay, under a pseudonym.
    """
    from karat.protocols.verification.store.store import CampaignStore

    anonymise_worker(CampaignStore.open(store), worker, "judge")
