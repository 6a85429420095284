"""`karat kb fetch --ids-from FILE…`."""

from __future__ import annotations

import sys

import click

from karat.cli.kb.build.options import item_options, output_options, print_manifest, snapshot_folder, type_options
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.reading import input_options
from karat.cli.output import echo


@karat_command()
@option("--ids-from", "files", multiple=True, metavar="FILE", help="Gold standard or predictions (repeatable).")
@click.argument("more_files", nargs=-1, metavar="[FILE…]")
@item_options
@option("--classes/--no-classes", default=True, help="Also fetch the superclasses of all types.")
@option("--api", metavar="URL", help="Address of the Wikidata API; it ends in /w/api.php.")
@option("--wiki-api", metavar="URL", help="Address of the Wikipedia API, with {language} for the language.")
@type_options
@output_options
@input_options
def command(
    files: tuple[str, ...],
    more_files: tuple[str, ...],
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
    """Fetch entities from Wikidata into a snapshot.

    Karat fetches today's data for all ids in FILEs: items, titles, and addresses of Wikipedia or DBpedia pages. Busy
    services are retried, and an interrupted fetch resumes where it stopped. The snapshot marks deleted items and pages;
    ids that it does not contain are unknown.

    \b
    karat kb fetch --ids-from gold.jsonl predictions.jsonl --out mine
    karat score gold.jsonl predictions.jsonl --kb mine
    """
    from datetime import UTC, datetime

    from karat.data.id_resolution import list_entity_ids
    from karat.kb.dumps.items import ItemReader
    from karat.kb.type_rules import read_type_rules
    from karat.kb.wikidata_download import WIKIDATA_API, WIKIPEDIA_API, Services, download_snapshot
    from karat.model.errors import UsageError

    if not (files or more_files):
        raise UsageError("no input file. Add --ids-from with a gold standard or predictions.")
    ids = list_entity_ids((*files, *more_files))
    if not ids:
        raise UsageError("the files contain no entity ids. Pass files with links.")

    def report(done: int, total: int) -> None:
        echo(f"\rkarat: {done:,} of {total:,} ids", nl=done >= total, err=True)

    print_manifest(
        download_snapshot(
            ids,
            snapshot_folder(folder),
            date=date or datetime.now(UTC).date().isoformat(),
            reader=ItemReader(languages, wikis, read_type_rules(whitelist, adjust)),
            services=Services(api or WIKIDATA_API, wiki_api or WIKIPEDIA_API),
            with_classes=classes,
            progress=report if sys.stderr.isatty() else None,
        ),
        json_file,
    )
