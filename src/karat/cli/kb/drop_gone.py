"""`karat kb drop-gone GOLD OUT`."""

from __future__ import annotations

import click

from karat.cli.choices import apart
from karat.cli.output import say
from karat.cli.reading import reading


@click.command()
@click.argument("gold", metavar="GOLD")
@click.argument("out", metavar="OUT")
@click.option("--kb", "name", required=True, metavar="NAME|DIR", help="The pack that says what is still there.")
@reading
def command(gold: str, out: str, name: str) -> None:
    """Write a gold standard without labels to entities that are not in a pack any more, and count them.

    BAT and posthoc verification did so. Of a pack with some entities only, those are gone that it calls deleted.

    \b
    karat kb drop-gone gold.jsonl still.jsonl --kb enwiki
    """
    from karat.data.load import load, read_for, save
    from karat.kb.opened import open_pack
    from karat.knowledge.changes import drop_gone

    apart(read_for(gold), [out])
    pack = open_pack(name)
    corpus, dropped = drop_gone(load(gold), pack)
    save(corpus, out)
    say(f"{corpus.name}: {dropped:,} labels to entities that {pack.name}@{pack.digest} does not have", err=True)
