"""`karat verify export STORE --out FILE`."""

from __future__ import annotations

import click


@click.command()
@click.argument("store")
@click.option("--out", default="-", show_default=True, metavar="FILE", help="The judgements as JSONL.")
def command(store: str, out: str) -> None:
    """Write the judgements: every record with what was shown, under pseudonyms that name nobody."""
    from karat.storage.files import writing
    from karat.verification.store.copies import exported
    from karat.verification.store.store import CampaignStore

    kept = CampaignStore.open(store)
    with writing(out) as file:
        for line in exported(kept):
            file.write(line)
    kept.database.close()
