"""`karat kb show NAME|DIR`."""

from __future__ import annotations

import click

from karat.cli.choices import once
from karat.cli.output import show, width, write


@click.command()
@click.argument("name", metavar="NAME|DIR", default="starter")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write everything as JSON.")
def command(name: str, json_file: str | None) -> None:
    """Say what is in a pack: its sources, date, licence, tables, and what each table is needed for.

    \b
    karat kb show
    karat kb show DIR --json -
    """
    from karat.kb.opened import open_pack
    from karat.pages.kb import manifest_json, manifest_page

    manifest = open_pack(name).manifest
    write(json_file, lambda: manifest_json(manifest))
    show(lambda: manifest_page(manifest, width=width()), json_file)
