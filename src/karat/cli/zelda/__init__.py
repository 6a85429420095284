"""`karat zelda …`."""

from __future__ import annotations

import click

from karat.cli.lazy_group import LazyGroup

COMMANDS = {
    "audit": "Measure train-test overlap.",
    "candidates": "Build candidate lists from linked text, aliases and web links.",
    "describe": "Write entity descriptions from Wikipedia articles.",
    "recall": "Measure the recall of candidate lists on test sets.",
    "sample": "Sample training text for test sets.",
    "score": "Score disambiguation of gold mentions on all test sets.",
}
"""One-line help of every command, so that listing the commands imports none of them."""


class _Commands(LazyGroup):
    """The subcommands of `karat zelda`."""

    prefix = "karat.cli.zelda."
    commands_help = COMMANDS


@click.command(cls=_Commands)
def command() -> None:
    """Build and score ZELDA-style benchmarks."""
