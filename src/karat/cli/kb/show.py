"""`karat kb show NAME|DIR`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command
from karat.cli.options.output import json_option
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@click.argument("name", metavar="NAME|DIR", default="starter")
@json_option()
def command(name: str, json_file: str | None) -> None:
    """Show the contents of a snapshot.

    The output lists sources, date, licence and tables, and what each table is used for.

    \b
    karat kb show
    karat kb show DIR --json -
    """
    from karat.kb.catalogue import open_snapshot
    from karat.render.kb import encode_manifest, render_manifest

    manifest = open_snapshot(name).manifest
    write_output(json_file, lambda: encode_manifest(manifest))
    print_page(lambda: render_manifest(manifest, width=page_width()), json_file)
