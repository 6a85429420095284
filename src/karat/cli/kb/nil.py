"""`karat kb nil GOLD`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import say, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("gold", metavar="GOLD")
@click.option("--kb", "name", default="starter", show_default=True, metavar="NAME|DIR", help="The pack to look into.")
@click.option("--out", metavar="FILE", help="Write GOLD without these labels, to score without them too.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write every label as JSON.")
@reading
def command(gold: str, name: str, out: str | None, json_file: str | None) -> None:
    """List NIL labels whose words a pack knows as a name: what was outside may be inside by now.

    \b
    karat kb nil gold.jsonl --kb enwiki --out rest.jsonl
    karat score rest.jsonl answers.jsonl
    """
    from karat.data.load import load, read_for, save
    from karat.kb.opened import open_pack
    from karat.knowledge.changes import now_known, without_known
    from karat.pages.knowledge import nil_json, nil_page

    apart(read_for(gold), [out, json_file])
    pack, corpus = open_pack(name), load(gold)
    if out is not None:
        save(without_known(corpus, pack), out)
    found, label = now_known(corpus, pack), f"{pack.name}@{pack.digest}"
    write(json_file, lambda: nil_json(found, label))
    if json_file != "-":
        say(nil_page(found, label, width=width()), nl=False, err=out == "-")
