"""`karat verify overlay STORE --out FILE`."""

from __future__ import annotations

import click

from karat.cli.output import say


@click.command()
@click.argument("store")
@click.option("--out", required=True, metavar="FILE", help="The overlay, as JSONL.")
@click.option("--version", default=1, show_default=True, metavar="N", help="Its number, which results name.")
@click.option("--machine", metavar="NAME", help="What this machine said, in place of people.")
def command(store: str, out: str, version: int, machine: str | None) -> None:
    """Make a patch over the gold standard of what judges said: links to add, remove and link anew, with the votes.

    \b
    karat verify overlay demo.sqlite --out demo.overlay.jsonl
    karat score demo demo/prior --overlay demo.overlay.jsonl
    """
    from collections import Counter

    from karat.errors import UsageError
    from karat.storage.files import writing
    from karat.verification.overlay import overlay_of, written
    from karat.verification.store.store import CampaignStore

    if version < 1:
        raise UsageError(f"the version is {version}. Give a number from 1 on.")
    kept = CampaignStore.open(store)
    made = overlay_of(kept.campaign, kept.records(), version=version, machine=machine)
    with writing(out) as file:
        for line in written(made):
            file.write(line)
    counts = Counter(change.action for change in made.changes)
    say(", ".join(f"{action} {counts[action]}" for action in ("add", "remove", "relink")), err=out == "-")
    for why, count in made.header.undecided.items():
        say(f"not changed: {count} {why}", err=out == "-")
    kept.database.close()
