"""`karat kb moves OLD NEW GOLD`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.argument("gold", metavar="GOLD")
@click.option("--out", metavar="FILE", help="Write GOLD with categories such as change:merged, for --by categories.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write every id as JSON.")
@reading
def command(old: str, new: str, gold: str, out: str | None, json_file: str | None) -> None:
    """Say which ids of a gold standard moved, merged, vanished or are new between two packs.

    \b
    karat kb moves enwiki-2014 enwiki-2026 gold.jsonl --out changed.jsonl
    karat score changed.jsonl answers.jsonl --by categories
    """
    from karat.data.load import load, read_for, save
    from karat.kb.opened import open_pack
    from karat.knowledge.changes import changed, moves
    from karat.pages.knowledge import moves_json, moves_page

    apart(read_for(gold), [out, json_file])
    corpus = load(gold)
    found = moves(corpus.labels.names.to_pylist(), open_pack(old), open_pack(new))
    if out is not None:
        save(changed(corpus, found), out)
    write(json_file, lambda: moves_json(found))
    show(lambda: moves_page(found, width=width()), json_file, out)
