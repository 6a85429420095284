"""`karat systems show NAME`."""

from __future__ import annotations

import click

from karat.cli.output import show, width


@click.command()
@click.argument("name", metavar="NAME")
def command(name: str) -> None:
    """Say what a system is, what it needs, and its options.

    \b
    karat systems show graph
    """
    from karat.pages.systems.listed import listed, show_page

    show(lambda: show_page(listed(name), width=width()))
