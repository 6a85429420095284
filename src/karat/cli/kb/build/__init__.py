"""`karat kb build …`."""

from __future__ import annotations

import click

from karat.cli.lazy_group import LazyGroup

COMMANDS = {
    "text": "Build a snapshot with link counts from linked text.",
    "wikidata": "Build a snapshot from the JSON dump of Wikidata.",
    "wikipedia": "Build a snapshot from the dumps of a Wikipedia.",
}
"""One-line help of every command, so that listing the commands imports none of them."""


class _Commands(LazyGroup):
    """The subcommands of `karat kb build`."""

    prefix = "karat.cli.kb.build."
    commands_help = COMMANDS


@click.command(cls=_Commands)
def command() -> None:
    """Build a snapshot from published files."""
