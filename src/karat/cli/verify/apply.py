"""`karat verify apply OVERLAY GOLD --out FILE`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.reading import input_options
from karat.cli.output import echo, echo_losses


@karat_command()
@click.argument("overlay")
@click.argument("gold")
@option("--out", required=True, metavar="FILE", help="Output file of the corrected gold standard.")
@input_options
def command(overlay: str, gold: str, out: str) -> None:
    """Apply an overlay to a gold standard.

    The output is a gold standard that all commands can read.
    """
    from karat.data.load import load, write_data
    from karat.protocols.verification.overlay import apply_overlay, is_overlay, read_overlay

    check_paths([overlay, gold], [out])
    if is_overlay(gold) and not is_overlay(overlay):
        overlay, gold = gold, overlay
        echo(f"karat: {overlay} is the overlay, and {gold} is the gold standard; the arguments were swapped.", err=True)
    patch = apply_overlay(load(gold), read_overlay(overlay))
    echo_losses(out, write_data(patch.corpus, out))
    echo(", ".join(f"{action} {count}" for action, count in patch.applied.items()) or "no changes", err=out == "-")
    for reason, count in patch.excluded.items():
        echo(f"karat: {overlay}: {reason}: {count}", err=True)
