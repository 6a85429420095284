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
@click.option("--gold", metavar="FILE", help="The gold standard whose texts answers are laid on, and words placed in.")
@click.option("--step", "steps", multiple=True, metavar="NAME", help="Apply this step first (repeatable).")
@click.option("--kb", metavar="NAME|DIR", help="The knowledge base that a step asks, as drop-gone does.")
@click.option("--base", metavar="IRI", help="What stands before the ids of documents in NIF, which wants IRIs.")
@click.option("--entity-base", metavar="IRI", help="The same for entities that are neither IRIs nor QIDs.")
@reading
def command(
    source: str,
    target: str,
    wanted: str | None,
    given: str | None,
    kind: str | None,
    gold: str | None,
    steps: tuple[str, ...],
    kb: str | None,
    base: str | None,
    entity_base: str | None,
) -> None:
    """Write a corpus or a run in another format, and say what that format cannot hold.

    \b
    karat data convert gold.ttl gold.jsonl
    karat data convert MSNBC msnbc.jsonl --step drop-nil --step longest
    karat data convert gold.jsonl still.jsonl --step drop-gone --kb enwiki
    karat data convert answers.jsonl answers.csv --to bat-csv
    karat data convert llm.jsonl answers.jsonl --gold gold.jsonl
    karat data convert gold.jsonl gold.ttl --base https://example.org/mine/
    karat data convert gold.jsonl mine --to hf-datasets     for load_from_disk
    """
    from karat.data.convert import lost
    from karat.data.iris import relative, relative_entities
    from karat.data.load import converted_in_blocks, load_either, read_for, save, target_format
    from karat.data.steps import stepped
    from karat.errors import UsageError
    from karat.fitting import counted
    from karat.kb.opened import open_kb
    from karat.model.corpus import Corpus
    from karat.pages.data.converted import converted_page

    apart(read_for(source), [target])
    if kb is not None and not steps:
        raise UsageError("--kb is what steps ask, and none is named. Add --step NAME, or see karat kb resolve.")
    format, chosen = target_format(target, wanted)
    if not steps and gold is None and base is None and entity_base is None:
        counts = converted_in_blocks(source, target, chosen, kind=kind, format=given)
        if counts is not None:
            done = f"{counted(counts[0], 'document')}, {counted(counts[1], 'label')}"
            say(f"{source}: {done} to {chosen.title}", err=True)
            return
    data = load_either(source, kind=kind, format=given, gold=gold)
    if steps:
        if not isinstance(data, Corpus):
            raise UsageError(f"{source} holds answers, and steps change gold standards. Leave --step out.")
        data, changes = stepped(data, steps, None if kb is None else open_kb(kb))
        for name, change in changes.items():
            say(f"{name}: {change}", err=True)
    if chosen.iris and base is None and (id := relative(data)) is not None:
        raise UsageError(
            f"{chosen.title} names documents by absolute IRIs, and {id!r} is none. Say where they are published, "
            "such as --base https://example.org/benchmark/"
        )
    save(data, target, format=format, base=base, entity_base=entity_base)
    say(converted_page(source, data, chosen, lost(data, chosen)), nl=False, err=True)
    if chosen.iris and base is None and (ids := relative_entities(data)):
        say(
            f"  written as relative IRIs: {len(ids)} entities, such as {ids[0]!r}; --base makes them absolute", err=True
        )
