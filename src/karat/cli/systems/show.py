"""`karat systems show NAME`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command
from karat.cli.output import page_width, print_page


@karat_command()
@click.argument("name", metavar="NAME")
def command(name: str) -> None:
    """Show the description, requirements and options of a system.

    \b
    karat systems show graph
    """
    from karat.render.systems.catalogue import describe_system, render_system

    print_page(lambda: render_system(describe_system(name), width=page_width()))
