"""`karat zelda …`."""

from __future__ import annotations

import click

from karat.cli.groups import LazyGroup

COMMANDS = {
    "audit": "Say what training text gives away of test sets.",
    "candidates": "Build candidate lists from linked text, aliases and links of the web.",
    "describe": "Write what entities are, from their articles.",
    "recall": "Say what candidate lists allow: most frequent sense, recall, ambiguity.",
    "sample": "Draw training text for test sets, with vocabulary and statistics.",
    "score": "Score disambiguation on all test sets, by what makes mentions difficult.",
}
"""Every command with its one-line help, so that listing them imports none of them."""


class _Commands(LazyGroup):
    prefix = "karat.cli.zelda."
    commands_help = COMMANDS


@click.command(cls=_Commands)
def command() -> None:
    """Build and use a fair bed to train and test disambiguation, as ZELDA is one."""
