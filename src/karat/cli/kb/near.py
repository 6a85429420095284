"""`karat kb near GOLD ANSWERS…`."""

from __future__ import annotations

import click

from karat.cli.output import say, width
from karat.cli.reading import reading


@click.command()
@click.argument("gold", metavar="GOLD")
@click.argument("runs", nargs=-1, required=True, metavar="ANSWERS…")
@click.option("--kb", "name", default="starter", show_default=True, metavar="NAME|DIR", help="The pack to look into.")
@reading
def command(gold: str, runs: tuple[str, ...], name: str) -> None:
    """Say how near wrong answers are to the gold that they overlap.

    Relatedness is that of Milne and Witten, by links to both entities; its distribution is Figure 5 of the BAT paper.
    What the pack does not know is told apart from what is not related. No score is changed.

    \b
    karat kb near gold.jsonl one.jsonl two.jsonl --kb enwiki
    """
    from karat.data.load import load, load_run
    from karat.kb.opened import open_pack
    from karat.knowledge.near import near_misses
    from karat.pages.knowledge import near_page

    pack, corpus = open_pack(name), load(gold)
    found = {}
    for each in runs:
        run = load_run(each, corpus=corpus)
        found[run.name if run.name not in found else each] = near_misses(corpus, run, pack)
    say(near_page(found, f"{pack.name}@{pack.digest}", width=width()), nl=False)
