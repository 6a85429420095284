"""`karat kb build starter SOURCES…`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo, page_width


@karat_command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCES…")
@option("--out", required=True, metavar="DIR", help="Folder of the snapshot.")
@option("--date", required=True, metavar="DATE", help="Date of the sources, such as 2026-11-15.")
def command(sources: tuple[str, ...], out: str, date: str) -> None:
    """Build the snapshot that comes with Karat.

    SOURCES are the folders with its source files; docs/knowledge.md lists them.

    \b
    karat kb build starter sources --date 2026-11-15 --out starter
    """
    from pathlib import Path

    from karat.kb.starter.build import build_starter
    from karat.render.kb import render_manifest

    echo(render_manifest(build_starter(sources, Path(out), date), width=page_width()), nl=False)
