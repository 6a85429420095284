"""`karat new-command`."""

from __future__ import annotations

import click

from karat.cli.output import echo


@click.command()
def command() -> None:
    """Print a word, for a test.

    \b
    karat new-command
    """
    echo("new")
