"""`karat data stats PATH…`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import say, show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option(
    "--kb", metavar="NAME|DIR", help="Names, types, popular entities, demonyms: a pack, or a folder of tables."
)
@click.option("--step", "steps", multiple=True, metavar="NAME", help="Apply this step first (repeatable).")
@click.option("--gold-format", metavar="NAME", help="The format of PATH, where it is not recognised.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write everything as JSON.")
@click.option("--markdown", "layout", flag_value="markdown", help="Print the table of the papers in Markdown.")
@click.option("--latex", "layout", flag_value="latex", help="Print the table of the papers in LaTeX.")
@reading
def command(
    paths: tuple[str, ...],
    kb: str | None,
    steps: tuple[str, ...],
    gold_format: str | None,
    json_file: str | None,
    layout: str | None,
) -> None:
    """Describe corpora in numbers: documents, mentions, entities, NIL, types and so on.

    PATH is a file, a folder in a known layout, or a registered name. Several are shown side by side.

    \b
    karat data stats demo
    karat data stats gold.jsonl --kb DIR --json -
    karat data stats one.jsonl two.jsonl --latex     as papers have it
    """
    from pathlib import Path

    from karat.data.catalogue import named, recognised
    from karat.data.describe import describe
    from karat.data.load import load
    from karat.kb.opened import open_kb
    from karat.pages.data.stats import json_of, page, paper

    apart(list(paths), [json_file])
    tables = None if kb is None else open_kb(kb)
    found = []
    for path in paths:
        corpus = load(path, format=gold_format)
        if named(path) is None and path != "-":
            corpus = recognised(corpus, Path(path))
        if steps:
            from karat.data.steps import stepped

            corpus, counts = stepped(corpus, steps, tables)
            for name, change in counts.items():
                say(f"{corpus.name}, {name}: {change}", err=True)
        found.append(describe(corpus, tables))
    write(json_file, lambda: json_of(found))
    show(lambda: page(found, width=width()) if layout is None else paper(found, layout), json_file)
