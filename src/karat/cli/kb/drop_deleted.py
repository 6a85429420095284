"""`karat kb drop-deleted GOLD OUT`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import kb_option
from karat.cli.output import echo, echo_losses


@karat_command()
@click.argument("gold", metavar="GOLD")
@click.argument("out", metavar="OUT")
@kb_option("Knowledge base that lists the existing entities.", required=True)
@input_options
def command(gold: str, out: str, kb: str) -> None:
    """Drop gold labels of deleted entities.

    The command writes the remaining gold standard and counts the dropped labels, as BAT and post-hoc verification do.
    In a partial snapshot, only entities that it lists as deleted count as deleted. Other commands offer the same as
    the step drop-deleted.

    \b
    karat kb drop-deleted gold.jsonl still.jsonl --kb enwiki
    karat score gold.jsonl predictions.jsonl --kb enwiki --step drop-deleted
    """
    from karat.data.load import load, split_pool_name, write_data
    from karat.data.steps import apply_steps
    from karat.kb.catalogue import open_kb

    check_paths(split_pool_name(gold), [out])
    knowledge_base = open_kb(kb)
    corpus, changes = apply_steps(load(gold), ["drop-deleted"], knowledge_base)
    echo_losses(out, write_data(corpus, out))
    echo(
        f"{corpus.name}, drop-deleted by {knowledge_base.name}@{knowledge_base.digest}: {changes['drop-deleted']}",
        err=True,
    )
