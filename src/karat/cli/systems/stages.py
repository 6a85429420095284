"""`karat systems stages SYSTEM… --on DATASET`."""

from __future__ import annotations

import click

from karat.cli.choices import once
from karat.cli.output import show, width, write
from karat.cli.run import divided
from karat.errors import UsageError


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("given", nargs=-1, required=True, metavar="SYSTEM…", type=click.UNPROCESSED)
@click.option("--on", "dataset", default="demo", show_default=True, metavar="GOLD", help="The gold standard.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write everything as JSON.")
def command(given: tuple[str, ...], dataset: str, json_file: str | None) -> None:
    """Say which stage of a system loses what: detection, candidates, ranking, NIL.

    For each stage: how many of the mentions that reach it it gets right, and what the F1 would be if it got all of
    them right while the others stay as they are. Options of systems are flags here, as of `karat run`.

    \b
    karat systems stages graph popular --on demo
    karat systems stages tagme --on gold.jsonl --substitute popularity
    """
    from karat.comparison.stages import attribution, refuse_gold
    from karat.data.load import load
    from karat.linking.named import NamedSystem
    from karat.pages.systems.stages import stages_json, stages_page
    from karat.running.named import RunnableSystem, refuse_unused, told_apart

    names, flags = divided(given)
    systems = told_apart([RunnableSystem.of(name, flags) for name in names])
    refuse_unused(systems, flags)
    named = [NamedSystem(one.title, one.system, one.options) for one in systems if one.system is not None]
    if len(named) < len(names):
        raise UsageError("published answers have no stages. Name systems that run.")
    for system in named:
        refuse_gold(system)
    corpus = load(dataset)
    found = [attribution(system, corpus) for system in named]
    write(json_file, lambda: stages_json(found))
    show(lambda: stages_page(found, width=width()), json_file)
