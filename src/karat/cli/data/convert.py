"""`karat data convert IN OUT`."""

from __future__ import annotations

import click

from karat.cli.choices import apart
from karat.cli.output import say
from karat.cli.reading import reading


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--to", "wanted", metavar="FORMAT", help="The format to write, where the suffix of OUT does not tell.")
@click.option("--from", "given", metavar="FORMAT", help="The format of IN, where it is not recognised.")
@click.option("--as", "kind", type=click.Choice(["gold", "answers"]), help="What IN holds, where it could be both.")
@click.option("--step", "steps", multiple=True, metavar="NAME", help="Apply this step first (repeatable).")
@reading
def command(
    source: str, target: str, wanted: str | None, given: str | None, kind: str | None, steps: tuple[str, ...]
) -> None:
    """Write a corpus or a run in another format, and say what that format cannot hold.

    \b
    karat data convert gold.ttl gold.jsonl
    karat data convert MSNBC msnbc.jsonl --step drop-nil --step longest
    karat data convert answers.jsonl answers.csv --to bat-csv
    """
    from karat.data.convert import lost
    from karat.data.load import converted_in_blocks, load_either, read_for, save, target_format
    from karat.data.steps import stepped
    from karat.errors import UsageError
    from karat.fitting import counted
    from karat.model.corpus import Corpus
    from karat.pages.converted import converted_page

    apart(read_for(source), [target])
    format, chosen = target_format(target, wanted)
    if not steps:
        counts = converted_in_blocks(source, target, chosen, kind=kind, format=given)
        if counts is not None:
            done = f"{counted(counts[0], 'document')}, {counted(counts[1], 'label')}"
            say(f"{source}: {done} to {chosen.title}", err=True)
            return
    data = load_either(source, kind=kind, format=given)
    if steps:
        if not isinstance(data, Corpus):
            raise UsageError(f"{source} holds answers, and steps change gold standards. Leave --step out.")
        data, changes = stepped(data, steps)
        for name, change in changes.items():
            say(f"{name}: {change}", err=True)
    save(data, target, format=format)
    say(converted_page(source, data, chosen, lost(data, chosen)), nl=False, err=True)
