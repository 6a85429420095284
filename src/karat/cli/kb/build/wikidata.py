"""`karat kb build wikidata FILE…`."""

from __future__ import annotations

from pathlib import Path

import click

from karat.cli.kb.build.options import day_of, folder_of, memory, target, tell, typing, watched


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option("--language", "languages", multiple=True, default=["en"], show_default=True, help="Of names, best first.")
@click.option("--wiki", "wikis", multiple=True, default=["enwiki"], show_default=True, help="Whose titles count.")
@click.option("--wikipedia", metavar="NAME|DIR", help="A pack of a Wikipedia, for anchor counts, links and redirects.")
@typing
@target
@memory
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
    """Build a pack from the JSON dump of Wikidata.

    FILES are wikidata-DATE-all.json, and for merged items, which it leaves out, page.sql and redirect.sql of
    wikidatawiki. They may be plain, .gz, .bz2 or .zst, and are known by their names. A build that broke off goes on
    where it was.

    \b
    karat kb build wikidata wikidata-20261101-all.json.bz2 wikidatawiki-20261101-{page,redirect}.sql.gz --out wikidata
    karat kb build wikidata … --wikipedia enwiki --out both
    karat kb build wikidata … --types whitelist.tsv --adjust adjustments.txt --out typed
    """
    from karat.kb.opened import open_pack
    from karat.knowledge.dumps.items import ItemReader
    from karat.knowledge.dumps.named import wikidata_dumps
    from karat.knowledge.dumps.wikidata import build_wikidata
    from karat.knowledge.type_rules import read_type_rules

    rules = read_type_rules(whitelist, adjust)
    dumps = wikidata_dumps(files, None if wikipedia is None else open_pack(wikipedia).folder)
    with watched() as progress:
        manifest = build_wikidata(
            dumps,
            folder_of(folder),
            date=day_of(date, dumps.items),
            reader=ItemReader(languages, wikis, rules),
            memory=memory,
            progress=progress,
        )
    tell(manifest, json_file)
