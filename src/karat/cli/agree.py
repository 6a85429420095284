"""`karat agree FILE FILE…`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--kb", metavar="NAME|DIR", help="Ids that stand for the same entity there are the same.")
@click.option("--level", default=0.95, show_default=True, metavar="L", help="The level of the intervals.")
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Samples of documents for intervals.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="What random numbers start from.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
@click.option("--format", "format_name", metavar="NAME", help="The format of the files, where it is not recognised.")
@reading
def command(
    files: tuple[str, ...],
    kb: str | None,
    level: float,
    resamples: int,
    seed: int,
    json_file: str | None,
    format_name: str | None,
) -> None:
    """Say how far annotators of the same documents agree.

    Each FILE holds the gold labels of one annotator. F1 takes one annotator as the gold standard for another. Kappa and
    alpha correct for chance; their items are the spans that anybody marked, and their categories the entities, NIL,
    without link, and none where an annotator did not mark the span. "On links" are the items that all marked.

    \b
    karat agree anna.jsonl ben.jsonl
    karat agree anna.jsonl ben.jsonl chris.jsonl --json agreement.json
    """
    from dataclasses import replace

    from karat.data.load import load
    from karat.errors import UsageError
    from karat.explanation.agreement import agree
    from karat.kb.opened import open_kb
    from karat.pages.agreement import json_of, page

    if len(files) < 2 or files.count("-") > 1:
        raise UsageError("agreement is that of at least two annotators. Give a file for each, standard input once.")
    if resamples < 0 or seed < 0:
        raise UsageError(f"resamples is {resamples} and seed {seed}. Give numbers from 0 on.")
    apart(list(files), [json_file])
    corpora = [load(name, format=format_name) for name in files]
    names = [corpus.name for corpus in corpora]
    corpora = [
        replace(corpus, name=name) if names.count(corpus.name) > 1 else corpus
        for corpus, name in zip(corpora, files, strict=True)
    ]
    tables = None if kb is None else open_kb(kb)
    found = agree(corpora, kb=tables, resamples=resamples, level=level, seed=seed)
    write(json_file, lambda: json_of(found))
    show(lambda: page(found, width=width()), json_file)
