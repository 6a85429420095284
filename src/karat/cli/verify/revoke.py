"""`karat verify revoke STORE WORKER`."""

from __future__ import annotations

import click

from karat.cli.campaigns import revoke_worker
from karat.cli.options.declaration import karat_command, option


@karat_command()
@click.argument("store")
@click.argument("worker")
@option("--lift", is_flag=True, help="Let the judge enter again, by a new invitation.")
def command(store: str, worker: str, lift: bool) -> None:
    """Revoke the access of a judge.

    Sessions and links to the lead page end at once, tasks in progress go to other judges, and invitations of this
    worker no longer work. The judgements stay and count; `karat verify anonymise` deletes the identity.
    """
    from karat.protocols.verification.store.store import CampaignStore

    revoke_worker(CampaignStore.open(store), worker, lift=lift)
