"""`karat systems`."""

from __future__ import annotations

import click

from karat.cli import output  # not its functions: `show` is a command here
from karat.cli.choices import once
from karat.cli.groups import LazyGroup

COMMANDS = {
    "show": "Say what a system is, what it needs, and its options.",
    "stages": "Say which stage of a system loses what.",
}
"""Every command with its one-line help, so that listing them imports none of them."""


class _Commands(LazyGroup):
    prefix = "karat.cli.systems."
    commands_help = COMMANDS


@click.command(cls=_Commands, invoke_without_command=True)
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write the list as JSON.")
@click.pass_context
def command(context: click.Context, json_file: str | None) -> None:
    """List the systems that Karat runs, with what each needs; or ask about one.

    \b
    karat systems
    karat systems show tagme
    karat systems stages graph --on demo
    """
    if context.invoked_subcommand is not None:
        return
    from karat.pages.systems.listed import every, list_json, list_page

    rows = every()
    output.write(json_file, lambda: list_json(rows))
    output.show(lambda: list_page(rows, width=output.width()), json_file)
