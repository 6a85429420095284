"""`karat kb fetch --ids-of FILE…`."""

from __future__ import annotations

import sys

import click

from karat.cli.kb.build.options import folder_of, target, tell, typing
from karat.cli.output import say
from karat.cli.reading import reading


@click.command()
@click.option("--ids-of", "files", multiple=True, metavar="FILE", help="A gold standard or answers; again for more.")
@click.argument("more", nargs=-1, metavar="[FILE…]")
@click.option("--language", "languages", multiple=True, default=["en"], show_default=True, help="Of names, best first.")
@click.option("--wiki", "wikis", multiple=True, default=["enwiki"], show_default=True, help="Whose titles count.")
@click.option("--classes/--no-classes", default=True, help="Fetch the superclasses of all types too.")
@click.option("--api", metavar="URL", help="Of Wikidata or a copy of it; it ends in /w/api.php.")
@click.option("--wiki-api", metavar="URL", help="Of the Wikipedias, with {language} for the language.")
@typing
@target
@reading
def command(
    files: tuple[str, ...],
    more: tuple[str, ...],
    languages: tuple[str, ...],
    wikis: tuple[str, ...],
    classes: bool,
    api: str | None,
    wiki_api: str | None,
    whitelist: str | None,
    adjust: tuple[str, ...],
    folder: str,
    date: str | None,
    json_file: str | None,
) -> None:
    """Fetch what Wikidata says today about the ids that files name, and make a dated pack of it.

    Ids may be items, titles, addresses of pages or of DBpedia. Fifty are asked for at once; a service that is busy is
    asked again, and a fetch that broke off goes on where it was. Without an entry in the pack an id is not known;
    items and pages that are not there any more are in it as deleted.

    \b
    karat kb fetch --ids-of gold.jsonl answers.jsonl --out mine
    karat score gold.jsonl answers.jsonl --kb mine
    """
    from datetime import UTC, datetime

    from karat.errors import UsageError
    from karat.knowledge.dumps.items import ItemReader
    from karat.knowledge.fetch import ITEMS, PAGES, Services, fetch_pack
    from karat.knowledge.named_ids import ids_of
    from karat.knowledge.type_rules import read_type_rules

    if not (files or more):
        raise UsageError("no file to take ids from. Name a gold standard or answers with --ids-of.")
    ids = ids_of((*files, *more))
    if not ids:
        raise UsageError("the files name no ids. Is anything linked in them?")

    def report(done: int, known: int) -> None:
        say(f"\rkarat: {done:,} of {known:,} ids", nl=done >= known, err=True)

    tell(
        fetch_pack(
            ids,
            folder_of(folder),
            date=date or datetime.now(UTC).date().isoformat(),
            reader=ItemReader(languages, wikis, read_type_rules(whitelist, adjust)),
            services=Services(api or ITEMS, wiki_api or PAGES),
            classes=classes,
            progress=report if sys.stderr.isatty() else None,
        ),
        json_file,
    )
