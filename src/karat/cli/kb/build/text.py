"""`karat kb build text CORPUS…`."""

from __future__ import annotations

import click

from karat.cli.kb.build.options import folder_of, target, tell
from karat.cli.reading import reading


@click.command()
@click.argument("corpora", nargs=-1, required=True, metavar="CORPUS…")
@target
@reading
def command(corpora: tuple[str, ...], folder: str, date: str | None, json_file: str | None) -> None:
    """Count anchors in linked texts, and occurrences of the same words without a link.

    The pack says which entity a surface most often stands for, which error categories ask; nothing in it says that
    an id is unknown. Do not build it from the gold standard that you score.

    \b
    karat kb build text train.jsonl --out prior
    karat score test.jsonl answers.jsonl --kb prior --by error
    """
    from datetime import UTC, datetime

    from karat.data.load import load
    from karat.knowledge.text import build_text

    day = date or datetime.now(UTC).date().isoformat()
    tell(build_text([load(corpus) for corpus in corpora], folder_of(folder), date=day), json_file)
