"""`karat kb …`."""

from __future__ import annotations

import click

from karat.cli.groups import LazyGroup

COMMANDS = {
    "build": "Build a pack from published files.",
    "drop-gone": "Leave out gold to entities that are not there any more.",
    "fetch": "Fetch what Wikidata says about the ids that files name.",
    "find": "Look up entities by name.",
    "import": "Make a pack of any ontology or tables.",
    "moves": "Say which ids moved, merged or vanished between two packs.",
    "near": "Say how near wrong answers are to the right ones.",
    "nil": "List NIL gold that a pack knows a name of.",
    "resolve": "Write a corpus or a run with the ids of a knowledge base.",
    "show": "Say what is in a knowledge base.",
}
"""Every command with its one-line help, so that listing them imports none of them."""


class _Commands(LazyGroup):
    prefix = "karat.cli.kb."
    commands_help = COMMANDS


@click.command(cls=_Commands)
def command() -> None:
    """Build, import, show and ask knowledge bases."""
