"""`karat kb build wikipedia FILE…`."""

from __future__ import annotations

from pathlib import Path

import click

from karat.cli.kb.build.options import (
    memory_option,
    output_options,
    print_manifest,
    snapshot_date,
    snapshot_folder,
)
from karat.cli.options.declaration import karat_command, option
from karat.cli.progress import show_progress_bars


@karat_command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@option("--wiki", metavar="NAME", help="Wikipedia, such as enwiki.  [default: from the file names]")
@output_options
@memory_option
def command(
    files: tuple[Path, ...], wiki: str | None, folder: str, date: str | None, json_file: str | None, memory: str
) -> None:
    """Build a snapshot from the dumps of a Wikipedia.

    FILEs are dumps of one day, or a folder with them. Required: page.sql and redirect.sql. Optional: page_props.sql
    (Wikidata items, disambiguation pages), pagelinks.sql with linktarget.sql (links), and pages-articles XML in any
    number of files (link counts). They may be plain, .gz, .bz2 or .zst, and are recognised by name. An interrupted
    build resumes where it stopped.

    \b
    karat kb build wikipedia dumps/enwiki-20261101-* --out enwiki
    """
    from karat.kb.dumps.file_names import find_wikipedia_dumps
    from karat.kb.dumps.wikipedia import build_wikipedia

    dumps, named = find_wikipedia_dumps(files, wiki)
    with show_progress_bars() as progress:
        manifest = build_wikipedia(
            dumps,
            snapshot_folder(folder),
            wiki=named,
            date=snapshot_date(date, dumps.page, dumps.redirect, *dumps.articles),
            memory=memory,
            progress=progress,
        )
    print_manifest(manifest, json_file)
