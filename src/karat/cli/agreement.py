"""`karat agreement FILE FILE…`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths, single_value
from karat.cli.options.reading import input_options
from karat.cli.output import page_width, print_page, write_output


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--kb", metavar="NAME|DIR", help="Knowledge base that resolves ids.")
@click.option("--confidence", default=0.95, show_default=True, metavar="L", help="Confidence level of the intervals.")
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Bootstrap samples for intervals.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed.")
@click.option(
    "--json", "json_file", callback=single_value, multiple=True, metavar="FILE", help="Write the full output as JSON."
)
@click.option("--format", "format_name", metavar="NAME", help="Format of the files, if not detected.")
@input_options
def command(
    files: tuple[str, ...],
    kb: str | None,
    confidence: float,
    resamples: int,
    seed: int,
    json_file: str | None,
    format_name: str | None,
) -> None:
    """Measure inter-annotator agreement.

    Each FILE contains the gold labels of one annotator for the same documents. F1 treats one annotator as the gold
    standard for another. Kappa and alpha correct for chance. Their items are the spans that any annotator marked; their
    categories are the entities, NIL, unlinked, and none if the annotator did not mark the span. The columns "of the
    pair" use only the spans that one of the two annotators marked, so that other annotators do not change the kappa of
    a pair. The columns "on links" use only the spans that all annotators marked.

    \b
    karat agreement anna.jsonl ben.jsonl
    karat agreement anna.jsonl ben.jsonl chris.jsonl --json agreement.json
    """
    from dataclasses import replace

    from karat.analysis.explanation.agreement import agreement
    from karat.data.load import load
    from karat.kb.catalogue import open_kb
    from karat.model.errors import UsageError
    from karat.render.agreement import render_page, to_json

    if len(files) < 2 or files.count("-") > 1:
        raise UsageError(
            "agreement needs at least two annotators. Pass one file for each; only one may be standard input."
        )
    if resamples < 0 or seed < 0:
        raise UsageError(f"--resamples is {resamples} and --seed {seed}. Pass numbers of at least 0.")
    check_paths(list(files), [json_file])
    corpora = [load(name, format=format_name) for name in files]
    names = [corpus.name for corpus in corpora]
    corpora = [
        replace(corpus, name=name) if names.count(corpus.name) > 1 else corpus
        for corpus, name in zip(corpora, files, strict=True)
    ]
    knowledge_base = None if kb is None else open_kb(kb)
    result = agreement(corpora, kb=knowledge_base, resamples=resamples, confidence=confidence, seed=seed)
    write_output(json_file, lambda: to_json(result))
    print_page(lambda: render_page(result, width=page_width()), json_file)
