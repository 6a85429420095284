"""`karat kb near GOLD ANSWERS…`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("gold", metavar="GOLD")
@click.argument("runs", nargs=-1, required=True, metavar="ANSWERS…")
@click.option("--kb", "name", default="starter", show_default=True, metavar="NAME|DIR", help="The pack to look into.")
@click.option(
    "--credit",
    metavar="NEAR=PART,…",
    help="Beside strict scores, print those with partial credit: parent=0.5,child=0.5,metonym=…,same-name=…,sibling=….",
)
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write every pair as JSON.")
@reading
def command(gold: str, runs: tuple[str, ...], name: str, credit: str | None, json_file: str | None) -> None:
    """Say how near wrong answers are to the gold that they overlap.

    Relatedness is that of Milne and Witten, by links to both entities; its distribution is Figure 5 of the BAT paper.
    What the pack does not know is told apart from what is not related. No score is changed; --credit adds others, which
    name the credit and are comparable with no other program's.

    \b
    karat kb near gold.jsonl one.jsonl two.jsonl --kb enwiki
    karat kb near gold.jsonl one.jsonl --kb enwiki --credit parent=0.5,child=0.5,sibling=0.25
    """
    from karat.cli.choices import named_apart
    from karat.data.load import load, load_run
    from karat.evaluation.evaluation import evaluate
    from karat.kb.opened import open_pack
    from karat.knowledge.near import near_misses
    from karat.pages.knowledge import credited_measures, near_json, near_page

    apart([gold, *runs], [json_file])
    pack, corpus = open_pack(name), load(gold)
    loaded = named_apart([load_run(each, corpus=corpus) for each in runs], list(runs))
    measures = None if credit is None else credited_measures(credit)
    found = {run.name: near_misses(corpus, run, pack) for run in loaded}
    scores = {run.name: evaluate(corpus, run, kb=pack, measures=measures) for run in loaded if measures is not None}
    label = f"{pack.name}@{pack.digest}"
    write(json_file, lambda: near_json(found, label, scores))
    show(lambda: near_page(found, label, scores, width=width()), json_file)
