"""`karat kb resolve IN OUT`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option, to_option
from karat.cli.options.reading import input_options, source_options
from karat.cli.options.scoring import kb_option
from karat.cli.output import echo_losses, echo_run_warnings, page_width, print_page, write_output


@karat_command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="[OUT]", required=False)
@kb_option(default="starter")
@to_option(needs=["OUT"])
@source_options("IN")
@option("--gold", metavar="FILE", help="Gold standard whose texts the predictions refer to.")
@option("--list", "list_ids", is_flag=True, help="List every moved, ambiguous or unknown id.")
@json_option("the report")
@input_options
def command(
    source: str,
    target: str | None,
    kb: str,
    target_format: str | None,
    source_format: str | None,
    kind: str | None,
    gold: str | None,
    list_ids: bool,
    json_file: str | None,
) -> None:
    """Resolve the ids of a corpus or of predictions.

    The command reports how many ids the knowledge base knows, moved or lacks. OUT gets the data with the new ids; the
    old ids stay in `same_as`. Without OUT, only the report is printed.

    \b
    karat kb resolve gold.jsonl --kb DIR --list
    karat kb resolve predictions.jsonl resolved.jsonl --kb starter
    karat kb resolve answers.jsonl resolved.jsonl --gold gold.jsonl --kb DIR
    """
    from karat.data.id_resolution import resolve_ids
    from karat.data.load import get_target_format, load_gold_or_run, split_pool_name, write_data
    from karat.kb.catalogue import open_kb
    from karat.render.kb import encode_resolution, render_resolution

    check_paths(split_pool_name(source), [target, json_file])
    format = None if target is None else get_target_format(target, target_format)[0]
    data = load_gold_or_run(source, kind=kind, format=source_format, gold=gold, report=echo_run_warnings)
    resolved, report = resolve_ids(data, open_kb(kb))
    if target is not None:
        echo_losses(target, write_data(resolved, target, format=format))
    write_output(json_file, lambda: encode_resolution(report))
    print_page(lambda: render_resolution(report, list_ids=list_ids, width=page_width()), json_file, target)
