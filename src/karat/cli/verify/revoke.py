"""`karat verify revoke STORE WORKER`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo


@karat_command()
@click.argument("store")
@click.argument("worker")
@option("--lift", is_flag=True, help="Let the judge enter again, by a new invitation.")
def command(store: str, worker: str, lift: bool) -> None:
    """Revoke the access of a judge.

    Sessions end at once, tasks in progress go to other judges, and invitations of this worker no longer work. The
    judgements stay and count; `karat verify anonymise` deletes the identity.
    """
    from karat.model.errors import UsageError
    from karat.protocols.verification.store.store import CampaignStore

    campaign_store = CampaignStore.open(store)
    if lift:
        if not campaign_store.restore_access(worker):
            raise UsageError(f"{store}: the access of {worker} is not revoked. Check the name.")
        echo(f"{worker} may enter again")
    else:
        has_entered = campaign_store.revoke(worker)
        echo(f"{worker} has no access any more" if has_entered else f"{worker} never entered, and cannot enter now")
    campaign_store.database.close()
