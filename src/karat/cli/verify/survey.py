"""`karat verify survey STORE…`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.output import echo, page_width, print_page, write_output


@karat_command()
@click.argument("stores", nargs=-1, required=True)
@option("--membership", metavar="FILE", help="Write the shares by category as weights of fuzzy recall (TOML).")
@json_option()
def command(stores: tuple[str, ...], membership: str | None, json_file: str | None) -> None:
    """Report which mentions people would annotate.

    The report shows the share of participants for each mention and each link. Each STORE is the database of a campaign
    created with --kind survey.

    \b
    karat verify survey wanted.sqlite
    karat verify survey wanted.sqlite --membership wanted.toml
    karat score gold.ttl mine.ttl --profile finegrained --task a2kb \\
        --set membership=wanted.toml
    """
    from karat.model.errors import UsageError
    from karat.protocols.verification.store.store import CampaignStore
    from karat.protocols.verification.surveys import format_membership as weights
    from karat.protocols.verification.surveys import summarise_survey
    from karat.render.verification.surveys import render_page, to_json
    from karat.storage.atomic_writing import open_for_writing

    if membership is not None and len(stores) > 1:
        raise UsageError("--membership needs exactly one survey. Pass one STORE.")
    surveys = []
    for path in stores:
        store = CampaignStore.open(path)
        surveys.append(summarise_survey(store.campaign, store.get_records()))
        store.database.close()
    if membership is not None:
        text = weights(surveys[0])
        with open_for_writing(membership) as file:
            file.write(text.encode())
        echo(f"{membership}: weights by category", err=True)
    write_output(json_file, lambda: to_json(surveys))
    print_page(lambda: render_page(surveys, page_width()), json_file)
