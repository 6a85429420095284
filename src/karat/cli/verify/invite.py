"""`karat verify invite STORE WORKER…`."""

from __future__ import annotations

import click

from karat.cli.campaigns import check_invitations, invitation_options, lead_option, print_invitations, print_lead_links
from karat.cli.options.declaration import karat_command
from karat.cli.output import echo


@karat_command()
@click.argument("store")
@click.argument("workers", nargs=-1, required=True)
@lead_option
@invitation_options(8766, "karat verify serve")
def command(store: str, workers: tuple[str, ...], lead: bool, days: float, url: str) -> None:
    """Create invitation links for judges.

    WORKER is a name, or an id on a crowd platform. Each link works once. Browsers do not
    include the code after the # in requests. With --lead, the links open the lead page until they
    expire or `karat verify revoke` ends them; a lead should not judge.
    """
    from karat.protocols.verification.store.store import CampaignStore

    campaign_store = CampaignStore.open(store)
    check_invitations(campaign_store, workers, days)
    if lead:
        print_lead_links(campaign_store, workers, days, url, "a judge")
    else:
        campaign = campaign_store.campaign
        n_people = campaign.count_needed_people()
        n_invited = len({*workers, *campaign_store.get_workers().values()} - campaign_store.list_revoked())
        print_invitations(campaign_store, workers, days, url)
        if n_people is not None and n_invited < n_people:
            echo(
                f"karat: {campaign.n_judgements:,} judgements need {n_people:,} people with {campaign.options.batch} "
                f"tasks each; {n_invited:,} entered or are invited now, and earlier invitations are not counted. If "
                "these are all, invite more, or create the campaign again with a larger --tasks-per-judge or fewer "
                "--judges.",
                err=True,
            )
