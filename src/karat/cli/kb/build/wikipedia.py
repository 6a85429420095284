"""`karat kb build wikipedia FILE…`."""

from __future__ import annotations

from pathlib import Path

import click

from karat.cli.kb.build.options import day_of, folder_of, memory, target, tell, watched


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option("--wiki", metavar="NAME", help="Which Wikipedia, such as enwiki; else the names of the files say so.")
@target
@memory
def command(
    files: tuple[Path, ...], wiki: str | None, folder: str, date: str | None, json_file: str | None, memory: str
) -> None:
    """Build a pack from the dumps of a Wikipedia.

    FILES are dumps of one day, or a folder of them: page.sql and redirect.sql, and as far as wanted page_props.sql
    (items of Wikidata, disambiguation pages), pagelinks.sql with linktarget.sql (links), and pages-articles XML in any
    number of files (anchor counts). They may be plain, .gz, .bz2 or .zst, and are known by their names. A build that
    broke off goes on where it was.

    \b
    karat kb build wikipedia dumps/enwiki-20261101-* --out enwiki
    """
    from karat.knowledge.dumps.named import wikipedia_dumps
    from karat.knowledge.dumps.wikipedia import build_wikipedia

    dumps, named = wikipedia_dumps(files, wiki)
    with watched() as progress:
        manifest = build_wikipedia(
            dumps,
            folder_of(folder),
            wiki=named,
            date=day_of(date, dumps.page, dumps.redirect, *dumps.articles),
            memory=memory,
            progress=progress,
        )
    tell(manifest, json_file)
