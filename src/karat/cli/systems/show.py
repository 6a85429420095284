"""`karat systems show NAME`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command
from karat.cli.output import page_width, print_page


@karat_command()
@click.argument("name", metavar="NAME")
def command(name: str) -> None:
    """Show the description, requirements, options and published scores of a system.

    \b
    karat systems show graph
    karat systems show predictions
    """
    from karat.model.registry import get_plugin
    from karat.model.spec.system import System, parse_system
    from karat.render.systems.catalogue import describe_system, render_published, render_system
    from karat.systems.running.system import PUBLISHED

    name = parse_system(name).name
    if name == PUBLISHED:
        print_page(lambda: render_published(page_width()))
        return
    system = get_plugin("systems", name, System)
    entry = describe_system(name)
    print_page(lambda: render_system(entry, citation=system.citation, claims=system.claims, width=page_width()))
