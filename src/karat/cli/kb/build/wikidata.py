"""`karat kb build wikidata FILE…`."""

from __future__ import annotations

from pathlib import Path

import click

from karat.cli.kb.build.options import (
    item_options,
    memory_option,
    output_options,
    print_manifest,
    snapshot_date,
    snapshot_folder,
    type_options,
)
from karat.cli.options.declaration import karat_command, option
from karat.cli.progress import show_progress_bars


@karat_command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@item_options
@option("--wikipedia", metavar="NAME|DIR", help="Wikipedia snapshot with link counts, links and redirects.")
@type_options
@output_options
@memory_option
def command(
    files: tuple[Path, ...],
    languages: tuple[str, ...],
    wikis: tuple[str, ...],
    wikipedia: str | None,
    whitelist: str | None,
    adjust: tuple[str, ...],
    folder: str,
    date: str | None,
    json_file: str | None,
    memory: str,
) -> None:
    """Build a snapshot from the JSON dump of Wikidata.

    FILEs are wikidata-DATE-all.json and, for merged items, page.sql and redirect.sql of wikidatawiki. They may be
    plain, .gz, .bz2 or .zst, and are recognised by name. An interrupted build resumes where it stopped.

    \b
    karat kb build wikidata dumps/wikidata*20261101-* --out wikidata
    karat kb build wikidata … --wikipedia enwiki --out both
    karat kb build wikidata … --types types.tsv --adjust changes.txt --out typed
    """
    from karat.kb.catalogue import open_snapshot
    from karat.kb.dumps.file_names import find_wikidata_dumps
    from karat.kb.dumps.items import ItemReader
    from karat.kb.dumps.wikidata import build_wikidata
    from karat.kb.type_rules import read_type_rules

    rules = read_type_rules(whitelist, adjust)
    dumps = find_wikidata_dumps(files, None if wikipedia is None else open_snapshot(wikipedia).folder)
    with show_progress_bars() as progress:
        manifest = build_wikidata(
            dumps,
            snapshot_folder(folder),
            date=snapshot_date(date, dumps.items),
            reader=ItemReader(languages, wikis, rules),
            memory=memory,
            progress=progress,
        )
    print_manifest(manifest, json_file)
