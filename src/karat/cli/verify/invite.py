"""`karat verify invite STORE WORKER…`."""

from __future__ import annotations

import click

from karat.cli.output import say


@click.command()
@click.argument("store")
@click.argument("workers", nargs=-1, required=True)
@click.option("--days", default=14.0, show_default=True, metavar="N", help="How long an invitation holds.")
@click.option(
    "--address", default="http://127.0.0.1:8766", show_default=True, metavar="URL", help="Where karat verify serve is."
)
def command(store: str, workers: tuple[str, ...], days: float, address: str) -> None:
    """Make a link for each WORKER, a name or the id on a crowd platform. A link lets in once; make another after that.

    What lets in stands behind the # of the link, which browsers send to nobody.
    """
    from karat.errors import UsageError
    from karat.verification.store.store import CampaignStore

    if days <= 0:
        raise UsageError(f"days is {days:g}. Give a number above 0.")
    kept = CampaignStore.open(store)
    for worker in workers:
        say(f"{worker}: {address.rstrip('/')}/#/join/{kept.invitation(worker, 86400 * days)}")
    kept.database.close()
