"""`karat verify migrate STORE`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command
from karat.cli.output import echo


@karat_command()
@click.argument("store")
def command(store: str) -> None:
    """Migrate a campaign that an earlier Karat created.

    The database is changed in place, completely or not at all; stop the server and make a copy first. Judges,
    judgements and invitations stay valid. A campaign of the current layout is left unchanged.
    """
    from karat.protocols.campaigns.tables import LAYOUT
    from karat.protocols.verification.store.migration import migrate_campaign

    campaign_store, earlier_layout = migrate_campaign(store)
    change = "has the current layout" if earlier_layout is None else f"migrated from {earlier_layout}"
    echo(f"{campaign_store.database.label}: {change} ({LAYOUT})")
    if earlier_layout is not None and not campaign_store.options.gold_labels:
        echo(
            "karat: the campaign has no copy of the gold labels. `karat verify overlay` cannot compare additions with "
            "labels that were not shown.",
            err=True,
        )
    campaign_store.database.close()
