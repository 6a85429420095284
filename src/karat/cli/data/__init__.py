"""`karat data …`."""

from __future__ import annotations

import click

from karat.cli.groups import LazyGroup

COMMANDS = {
    "categorise": "Assign the fine-grained categories to a gold standard.",
    "convert": "Write a corpus or a run in another format.",
    "fetch": "Bring a benchmark to this machine.",
    "lint": "Find defects in a gold standard, and mend some.",
    "list": "List the benchmarks that Karat knows.",
    "show": "Say what is known about a benchmark.",
    "stats": "Describe corpora in numbers.",
}
"""Every command with its one-line help, so that listing them imports none of them."""


class _Commands(LazyGroup):
    prefix = "karat.cli.data."
    commands_help = COMMANDS


@click.command(cls=_Commands)
def command() -> None:
    """List, show, fetch, convert, check and describe benchmarks."""
