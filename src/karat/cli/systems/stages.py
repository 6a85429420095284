"""`karat systems stages SYSTEM… --on DATASET`."""

from __future__ import annotations

import click

from karat.cli.choices import once
from karat.cli.output import show, width, write
from karat.errors import UsageError


@click.command()
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM…")
@click.option("--on", "dataset", default="demo", show_default=True, metavar="GOLD", help="The gold standard.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of all systems that have it.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write everything as JSON.")
def command(systems: tuple[str, ...], dataset: str, options: tuple[str, ...], json_file: str | None) -> None:
    """Say which stage of a system loses what: detection, candidates, ranking, NIL.

    For each stage: how many of the mentions that reach it it gets right, and what the F1 would be if it got all of
    them right while the others stay as they are.

    \b
    karat systems stages graph popular --on demo
    karat systems stages tagme --on gold.jsonl --option substitute=popularity
    """
    from karat.comparison.stages import attribution, refuse_gold
    from karat.data.load import load
    from karat.linking.named import system_named
    from karat.pages.systems.stages import stages_json, stages_page

    pairs = [each.partition("=") for each in options]
    if any(not equals for _, equals, _ in pairs):
        raise UsageError("--option: write NAME=VALUE, such as --option kb=starter.")
    named = [system_named(name, {key: value for key, _, value in pairs}) for name in systems]
    for system in named:
        refuse_gold(system)
    corpus = load(dataset)
    found = [attribution(system, corpus) for system in named]
    write(json_file, lambda: stages_json(found))
    show(lambda: stages_page(found, width=width()), json_file)
