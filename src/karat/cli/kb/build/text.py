"""`karat kb build text CORPUS…`."""

from __future__ import annotations

import click

from karat.cli.kb.build.options import output_options, print_manifest, snapshot_folder
from karat.cli.options.declaration import karat_command
from karat.cli.options.reading import input_options


@karat_command()
@click.argument("corpora", nargs=-1, required=True, metavar="CORPUS…")
@output_options
@input_options
def command(corpora: tuple[str, ...], folder: str, date: str | None, json_file: str | None) -> None:
    """Build a snapshot with link counts from linked text.

    Karat counts how often each surface form links to each entity, and how often it occurs without a link. Error
    categories use these counts. An id that is missing from the snapshot does not count as unknown. Do not build it from
    the gold standard that you score.

    \b
    karat kb build text train.jsonl --out prior
    karat score test.jsonl predictions.jsonl --kb prior --by error
    """
    from datetime import UTC, datetime

    from karat.data.load import load
    from karat.kb.corpus_snapshot import build_corpus_snapshot

    snapshot_day = date or datetime.now(UTC).date().isoformat()
    print_manifest(
        build_corpus_snapshot([load(corpus) for corpus in corpora], snapshot_folder(folder), date=snapshot_day),
        json_file,
    )
