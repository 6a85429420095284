"""`karat systems stages SYSTEM… --on DATASET`."""

from __future__ import annotations

import click

from karat.cli.arguments import split_arguments
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.output import page_width, print_page, write_output
from karat.model.errors import UsageError


@karat_command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, required=True, metavar="SYSTEM…", type=click.UNPROCESSED)
@option("--on", "dataset", default="demo", show_default=True, metavar="GOLD", help="Gold standard.")
@json_option()
def command(arguments: tuple[str, ...], dataset: str, json_file: str | None) -> None:
    """Show how much each stage of a system loses.

    The stages are detection, candidates, ranking and NIL. For each stage, the table shows its accuracy on the mentions
    that reach it, and the F1 if this stage alone were perfect. Options of systems are flags, as in `karat run`.

    \b
    karat systems stages graph popular --on demo
    karat systems stages tagme --on gold.jsonl --substitute popularity
    """
    from karat.data.load import load
    from karat.render.systems.stages import render_page, to_json
    from karat.systems.linking.system import ConfiguredSystem
    from karat.systems.running.system import RunnableSystem, check_unused_options, make_titles_unique
    from karat.systems.stage_losses import check_no_gold, measure_stage_losses

    names, flags = split_arguments(arguments)
    systems = make_titles_unique([RunnableSystem.from_text(name, flags) for name in names])
    check_unused_options(systems, flags)
    named_systems = [
        ConfiguredSystem(system.title, system.system, system.options) for system in systems if system.system is not None
    ]
    if len(named_systems) < len(names):
        raise UsageError("predictions:FILE has no stages. Name systems that Karat runs.")
    for system in named_systems:
        check_no_gold(system)
    corpus = load(dataset)
    losses = [measure_stage_losses(system, corpus) for system in named_systems]
    write_output(json_file, lambda: to_json(losses))
    print_page(lambda: render_page(losses, width=page_width()), json_file)
