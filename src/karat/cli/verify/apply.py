"""`karat verify apply OVERLAY GOLD --out FILE`."""

from __future__ import annotations

import click

from karat.cli.choices import apart
from karat.cli.output import say
from karat.cli.reading import reading


@click.command()
@click.argument("overlay")
@click.argument("gold")
@click.option("--out", required=True, metavar="FILE", help="The gold standard as judges left it.")
@reading
def command(overlay: str, gold: str, out: str) -> None:
    """Write a gold standard with an overlay on it, for whatever reads gold standards."""
    from karat.data.load import load, save
    from karat.verification.overlay import patched, read_overlay

    apart([overlay, gold], [out])
    found = patched(load(gold), read_overlay(overlay))
    save(found.corpus, out)
    say(", ".join(f"{action} {count}" for action, count in found.done.items()) or "nothing to change", err=out == "-")
    for why, count in found.left_out.items():
        say(f"karat: {count} {why}", err=True)
