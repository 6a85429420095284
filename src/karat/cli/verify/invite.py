"""`karat verify invite STORE WORKER…`."""

from __future__ import annotations

import click

from karat.cli.campaigns import invitation_options, print_invitations
from karat.cli.options.declaration import karat_command


@karat_command()
@click.argument("store")
@click.argument("workers", nargs=-1, required=True)
@invitation_options(8766, "karat verify serve")
def command(store: str, workers: tuple[str, ...], days: float, url: str) -> None:
    """Create invitation links for judges.

    WORKER is a name, or an id on a crowd platform. Each link works once. Browsers do not
    include the code after the # in requests.
    """
    from karat.protocols.verification.store.store import CampaignStore

    print_invitations(CampaignStore.open(store), workers, days, url)
