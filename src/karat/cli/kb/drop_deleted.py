"""`karat kb drop-deleted GOLD OUT`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.reading import input_options
from karat.cli.output import echo


@click.command()
@click.argument("gold", metavar="GOLD")
@click.argument("out", metavar="OUT")
@click.option(
    "--kb", "name", required=True, metavar="NAME|DIR", help="Knowledge base that lists the existing entities."
)
@input_options
def command(gold: str, out: str, name: str) -> None:
    """Drop gold labels of deleted entities.

    The command writes the remaining gold standard and counts the dropped labels, as BAT and post-hoc verification do.
    In a partial snapshot, only entities that it lists as deleted count as deleted. Other commands offer the same as
    the step drop-deleted.

    \b
    karat kb drop-deleted gold.jsonl still.jsonl --kb enwiki
    karat score gold.jsonl predictions.jsonl --kb enwiki --step drop-deleted
    """
    from karat.data.load import load, save, split_pool_name
    from karat.data.steps import apply_steps
    from karat.kb.catalogue import open_kb

    check_paths(split_pool_name(gold), [out])
    kb = open_kb(name)
    corpus, changes = apply_steps(load(gold), ["drop-deleted"], kb)
    save(corpus, out)
    echo(f"{corpus.name}, drop-deleted by {kb.name}@{kb.digest}: {changes['drop-deleted']}", err=True)
