"""`karat data stats PATH…`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command
from karat.cli.options.output import json_option, layout_options
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import facets_option, gold_format_option, kb_option, steps_option
from karat.cli.output import echo, page_width, print_page, write_output


@karat_command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@kb_option("Knowledge base with names, types, popularity and demonyms: a snapshot or a folder of tables.")
@facets_option("Facet whose values to count: difficulty, rarity, types, … (repeatable).")
@steps_option()
@gold_format_option("PATH")
@json_option()
@layout_options("a table for papers")
@input_options
def command(
    paths: tuple[str, ...],
    kb: str | None,
    by: tuple[str, ...],
    steps: tuple[str, ...],
    gold_format: str | None,
    json_file: str | None,
    table_format: str | None,
) -> None:
    """Compute statistics of corpora.

    The statistics cover documents, mentions, entities, NIL, types and more. PATH is a file, a folder in a known layout,
    or the name of a registered dataset. Several corpora are shown side by side.

    \b
    karat data stats demo
    karat data stats gold.jsonl --kb DIR --json -
    karat data stats demo --kb starter --by difficulty
    karat data stats one.jsonl two.jsonl --latex     a table for a paper
    """
    from pathlib import Path

    from karat.data.catalogue import add_registry_metadata, find_dataset
    from karat.data.describe import describe
    from karat.data.load import load
    from karat.kb.catalogue import open_kb
    from karat.render.data.stats import render_page, render_paper_table, to_json

    check_paths(list(paths), [json_file])
    knowledge_base = None if kb is None else open_kb(kb)
    statistics = []
    for path in paths:
        corpus = load(path, format=gold_format)
        if find_dataset(path) is None and path != "-":
            corpus = add_registry_metadata(corpus, Path(path))
        if steps:
            from karat.data.steps import apply_steps

            corpus, counts = apply_steps(corpus, steps, knowledge_base)
            for name, change in counts.items():
                echo(f"{corpus.name}, {name}: {change}", err=True)
        statistics.append(describe(corpus, knowledge_base, by))
    write_output(json_file, lambda: to_json(statistics))
    print_page(
        lambda: (
            render_page(statistics, width=page_width())
            if table_format is None
            else render_paper_table(statistics, table_format)
        ),
        json_file,
    )
