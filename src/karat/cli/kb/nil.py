"""`karat kb nil GOLD`."""

from __future__ import annotations

import click

from karat.cli.choices import apart
from karat.cli.output import say, width
from karat.cli.reading import reading


@click.command()
@click.argument("gold", metavar="GOLD")
@click.option("--kb", "name", default="starter", show_default=True, metavar="NAME|DIR", help="The pack to look into.")
@click.option("--out", metavar="FILE", help="Write GOLD without these labels, to score without them too.")
@reading
def command(gold: str, name: str, out: str | None) -> None:
    """List NIL labels whose words a pack knows as a name: what was outside may be inside by now.

    \b
    karat kb nil gold.jsonl --kb enwiki --out rest.jsonl
    karat score rest.jsonl answers.jsonl
    """
    from karat.data.load import load, read_for, save
    from karat.kb.opened import open_pack
    from karat.knowledge.changes import now_known, without_known
    from karat.pages.knowledge import nil_page

    apart(read_for(gold), [out])
    pack, corpus = open_pack(name), load(gold)
    if out is not None:
        save(without_known(corpus, pack), out)
    texts = {document.id: document.text for document in corpus}
    page = nil_page(now_known(corpus, pack), texts, f"{pack.name}@{pack.digest}", width=width())
    say(page, nl=False, err=out == "-")
