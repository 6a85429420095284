"""`karat verify import STORE FILE`."""

from __future__ import annotations

import click

from karat.cli.output import say


@click.command()
@click.argument("store")
@click.argument("file")
def command(store: str, file: str) -> None:
    """Take in judgements that were exported from a copy of the same campaign; what is there already stays once."""
    from karat.storage.files import Source
    from karat.verification.store.copies import imported
    from karat.verification.store.store import CampaignStore

    source, kept = Source(file), CampaignStore.open(store)
    with source.stream() as lines:
        new, known = imported(kept, source.label, lines)
    say(f"{new} new, {known} there already")
    kept.database.close()
