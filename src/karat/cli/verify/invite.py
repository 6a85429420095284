"""`karat verify invite STORE WORKER…`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo


@karat_command()
@click.argument("store")
@click.argument("workers", nargs=-1, required=True)
@option("--days", default=14.0, show_default=True, metavar="N", help="Days until an invitation expires.")
@option(
    "--url", default="http://127.0.0.1:8766", show_default=True, metavar="URL", help="Address of karat verify serve."
)
def command(store: str, workers: tuple[str, ...], days: float, url: str) -> None:
    """Create invitation links for judges.

    WORKER is a name, or an id on a crowd platform. Each link works once. Browsers do not
    include the code after the # in requests.
    """
    from karat.model.errors import UsageError
    from karat.protocols.verification.store.store import CampaignStore

    if days <= 0:
        raise UsageError(f"--days is {days:g}. Pass a number above 0.")
    campaign_store = CampaignStore.open(store)
    for worker in workers:
        echo(f"{worker}: {url.rstrip('/')}/#/join/{campaign_store.create_invitation(worker, 86400 * days)}")
    campaign_store.database.close()
