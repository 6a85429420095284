"""`karat kb drop-gone GOLD OUT`."""

from __future__ import annotations

import click

from karat.cli.choices import apart
from karat.cli.output import say
from karat.cli.reading import reading


@click.command()
@click.argument("gold", metavar="GOLD")
@click.argument("out", metavar="OUT")
@click.option("--kb", "name", required=True, metavar="NAME|DIR", help="What says which entities exist.")
@reading
def command(gold: str, out: str, name: str) -> None:
    """Write a gold standard without labels to entities that exist no more, and count them.

    BAT and posthoc verification did so. Of a pack with some entities only, those are gone that it calls deleted. It is
    the step drop-gone of other commands.

    \b
    karat kb drop-gone gold.jsonl still.jsonl --kb enwiki
    karat score gold.jsonl answers.jsonl --kb enwiki --step drop-gone
    """
    from karat.data.load import load, read_for, save
    from karat.data.steps import stepped
    from karat.kb.opened import open_kb

    apart(read_for(gold), [out])
    kb = open_kb(name)
    corpus, changes = stepped(load(gold), ["drop-gone"], kb)
    save(corpus, out)
    say(f"{corpus.name}, drop-gone by {kb.name}@{kb.digest}: {changes['drop-gone']}", err=True)
