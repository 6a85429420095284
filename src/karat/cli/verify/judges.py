"""`karat verify judges STORE`."""

from __future__ import annotations

import click

from karat.cli.campaigns import print_leads
from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo, page_width


@karat_command()
@click.argument("store")
@option("--code", metavar="CODE", help="Completion code of the only judge to show.")
def command(store: str, code: str | None) -> None:
    """List judges with their control results and completion codes.

    Judges see the same code whether or not they passed. Only this list says which.
    """
    from karat.model.errors import UsageError
    from karat.protocols.verification.store.store import CampaignStore
    from karat.render.verification.surveys import render_judges

    campaign_store = CampaignStore.open(store)
    judges = campaign_store.list_judges()
    if code is not None:
        judges = [judge for judge in judges if judge.code == code.strip().upper()]
        if not judges:
            raise UsageError(f"{store}: no judge has the code {code}. Check the code and the campaign.")
    echo(render_judges(judges, page_width()))
    print_leads(campaign_store)
    campaign_store.database.close()
