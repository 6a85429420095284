"""`karat kb build starter SOURCES…`."""

from __future__ import annotations

import click

from karat.cli.output import say, width


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCES…")
@click.option("--out", required=True, metavar="DIR", help="The folder of the pack.")
@click.option("--date", required=True, metavar="DAY", help="The day that the sources are of, such as 2026-11-15.")
def command(sources: tuple[str, ...], out: str, date: str) -> None:
    """Build the starter pack from the folders that its sources lie in (docs/knowledge.md names them).

    \b
    karat kb build starter ../shared/data/kb downloads --date 2026-11-15 --out starter
    """
    from pathlib import Path

    from karat.knowledge.starter.build import build_starter
    from karat.pages.kb import manifest_page

    say(manifest_page(build_starter(sources, Path(out), date), width=width()), nl=False)
