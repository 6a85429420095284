"""`karat kb build …`."""

from __future__ import annotations

import click

from karat.cli.groups import LazyGroup

COMMANDS = {
    "starter": "The pack that comes with Karat, from open sources.",
    "text": "Count anchors in linked texts.",
    "wikidata": "Build a pack from the JSON dump of Wikidata.",
    "wikipedia": "Build a pack from the dumps of a Wikipedia.",
}
"""Every command with its one-line help, so that listing them imports none of them."""


class _Commands(LazyGroup):
    prefix = "karat.cli.kb.build."
    commands_help = COMMANDS


@click.command(cls=_Commands)
def command() -> None:
    """Build a pack from published files."""
