"""`karat kb moves OLD NEW GOLD [ANSWERS…]`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import say, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.argument("gold", metavar="GOLD")
@click.argument("runs", nargs=-1, metavar="[ANSWERS…]")
@click.option("--out", metavar="FILE", help="Write GOLD with categories such as change:merged, for --by change.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write every id as JSON.")
@reading
def command(old: str, new: str, gold: str, runs: tuple[str, ...], out: str | None, json_file: str | None) -> None:
    """Say which ids of a gold standard moved, merged, vanished or are new between two packs.

    With ANSWERS, say also how many labels of each change every system finds: with ids as written, and with ids
    resolved by NEW on both sides. What lies between the two was lost to the time alone.

    \b
    karat kb moves enwiki-2014 enwiki-2026 gold.jsonl one.jsonl two.jsonl
    karat kb moves enwiki-2014 enwiki-2026 gold.jsonl --out changed.jsonl
    karat score changed.jsonl answers.jsonl --by change
    """
    from functools import partial

    from karat.cli.choices import named_apart
    from karat.data.load import load, load_run, read_for, save
    from karat.evaluation.evaluation import evaluate
    from karat.kb.opened import open_pack
    from karat.knowledge.changes import CHANGE, changed, gold_moves
    from karat.pages.knowledge import moves_json, moves_page

    apart([*read_for(gold), *runs], [out, json_file])
    corpus, now = load(gold), open_pack(new)
    found = gold_moves(corpus, open_pack(old), now)
    tagged = changed(corpus, found)
    loaded = named_apart([load_run(each, corpus=corpus) for each in runs], list(runs))
    score = partial(evaluate, by=CHANGE, measures=["strong:micro.r"])
    scores = {run.name: (score(tagged, run), score(tagged, run, kb=now)) for run in loaded if found.ids}
    if out is not None:
        save(tagged, out)
    write(json_file, lambda: moves_json(found, scores))
    if json_file != "-":
        say(moves_page(found, scores, width=width()), nl=False, err=out == "-")
