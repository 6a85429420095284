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
    help="Decision of the lead on a tie: verify, remove or another entity (repeatable).",
)
def command(store: str, decisions: tuple[str, ...]) -> None:
    """List the links on which judges are tied, and decide them.

    A tie is a link that all required judges have judged without a majority, or whose new entity has none. Judges of
    different sources that have the same link can be tied too; this matters for the overlay. A decision of the lead is
    no vote: agreement ignores it, and it has no effect if the judges are not tied. A new decision replaces an earlier
    one. Links that judges remove, but accept as the new entity of another link, are listed too.

    \b
    karat verify ties demo.sqlite
    karat verify ties demo.sqlite --decide 12:0=verify --decide 31:2=Q64
    """
    from karat.protocols.verification.overlay import build_overlay
    from karat.protocols.verification.store.store import CampaignStore
    from karat.protocols.verification.ties import find_ties, parse_decision
    from karat.render.verification.ties import render_contradictions, render_ties

    campaign_store = CampaignStore.open(store)
    campaign = campaign_store.campaign
    if decisions:
        ties = find_ties(campaign, campaign_store.get_records())
        campaign_store.record_lead_decisions([parse_decision(campaign, ties, text) for text in decisions])
    records = campaign_store.get_records()
    echo(render_ties(find_ties(campaign, records), page_width()))
    contradictions = build_overlay(campaign, records).contradictions
    if contradictions:
        echo(f"\n{render_contradictions(campaign, contradictions, page_width())}")
    campaign_store.database.close()
