"""`karat verify ties STORE`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo, page_width


@karat_command()
@click.argument("store")
@option(
    "--decide",
    "decisions",
    multiple=True,
    metavar="TASK:LINK=DECISION",
    help="Decision of the lead on a tie or contradiction: verify, remove or another entity (repeatable).",
)
def command(store: str, decisions: tuple[str, ...]) -> None:
    """List the links on which judges are tied or contradict each other, and decide them.

    A tie is a link that all required judges have judged without a majority, or whose new entity has none. Judges of
    different sources that have the same link can be tied too; this matters for the overlay. A contradiction is a gold
    link that judges remove, but accept as the new entity of another link; it matters for the overlay. A decision of the
    lead is no vote: agreement ignores it, and it has no effect on other links. A new decision replaces an earlier one.

    \b
    karat verify ties demo.sqlite
    karat verify ties demo.sqlite --decide 12:0=verify --decide 31:2=Q64
    """
    from karat.protocols.verification.overlay import find_disputed_links
    from karat.protocols.verification.store.store import CampaignStore
    from karat.protocols.verification.ties import parse_decision
    from karat.render.verification.ties import render_ties

    campaign_store = CampaignStore.open(store)
    campaign = campaign_store.campaign
    if decisions:
        disputed = find_disputed_links(campaign, campaign_store.get_records())
        campaign_store.record_lead_decisions([parse_decision(campaign, disputed, text) for text in decisions])
    echo(render_ties(find_disputed_links(campaign, campaign_store.get_records()), page_width()))
    campaign_store.database.close()
