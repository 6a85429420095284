"""`karat systems`."""

from __future__ import annotations

import click

from karat.cli import output  # importing its functions would shadow the commands of this package
from karat.cli.lazy_group import LazyGroup
from karat.cli.options.output import json_option
from karat.model.errors import UsageError

COMMANDS = {
    "card": "Add test scores or a licence to the model card of a model.",
    "show": "Show the description, requirements and options of a system.",
    "stages": "Show how much each stage of a system loses.",
}
"""One-line help of every command, so that listing the commands imports none of them."""


class _Commands(LazyGroup):
    """The subcommands of `karat systems`."""

    prefix = "karat.cli.systems."
    commands_help = COMMANDS


@click.command(cls=_Commands, invoke_without_command=True)
@json_option("the list")
@click.pass_context
def command(context: click.Context, json_file: str | None) -> None:
    """List the built-in systems and measure their stages.

    \b
    karat systems
    karat systems show tagme
    karat systems stages graph --on demo
    """
    if context.invoked_subcommand is not None:
        if json_file is not None:
            raise UsageError(f"--json before {context.invoked_subcommand} has no effect. Write it after the command.")
        return
    from karat.render.systems.catalogue import encode_list, list_systems, render_list

    rows = list_systems()
    output.write_output(json_file, lambda: encode_list(rows))
    output.print_page(lambda: render_list(rows, width=output.page_width()), json_file)
