"""`karat verify survey STORE…`."""

from __future__ import annotations

import click

from karat.cli.choices import once
from karat.cli.output import say, show, width, write


@click.command()
@click.argument("stores", nargs=-1, required=True)
@click.option("--membership", metavar="FILE", help="Write the ratios by categories, as weights of fuzzy recall (TOML).")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
def command(stores: tuple[str, ...], membership: str | None, json_file: str | None) -> None:
    """Say what people would annotate: the share of those asked, for each mention in the text and for each link.

    Each STORE is the database of a campaign that was made with --kind survey.

    \b
    karat verify survey wanted.sqlite
    karat verify survey wanted.sqlite --membership wanted.toml
    karat score gold.ttl mine.ttl --like finegrained --task a2kb --set membership=wanted.toml
    """
    from karat.errors import UsageError
    from karat.pages.judged.surveys import json_of, page
    from karat.storage.files import writing
    from karat.verification.store.store import CampaignStore
    from karat.verification.surveys import membership as weights
    from karat.verification.surveys import survey

    if membership is not None and len(stores) > 1:
        raise UsageError("weights come from one survey. Give one STORE.")
    found = []
    for given in stores:
        store = CampaignStore.open(given)
        found.append(survey(store.campaign, store.records()))
        store.database.close()
    if membership is not None:
        text = weights(found[0])
        with writing(membership) as file:
            file.write(text.encode())
        say(f"{membership}: weights by categories", err=True)
    write(json_file, lambda: json_of(found))
    show(lambda: page(found, width()), json_file)
