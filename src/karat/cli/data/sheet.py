"""`karat data sheet NAME|FILE`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.publishing import PublicationOptions, publication_options
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import gold_format_option, kb_option
from karat.cli.output import echo, page_width


@karat_command()
@click.argument("source", metavar="NAME|FILE|FOLDER")
@option("--out", metavar="DIR", help="New folder to publish.  [default: print the data sheet]")
@option(
    "--annotator",
    "annotators",
    multiple=True,
    metavar="FILE",
    help="Labels of one annotator, to measure agreement (repeatable; at least two).",
)
@kb_option("Knowledge base with names, types and popularity, for statistics and lint.")
@publication_options(
    "Name of the dataset, if it has none yet.  [default: from the file name]",
    "Version to describe, or version of a file.  [default: the newest, or 1]",
)
@gold_format_option("FILE")
@input_options
def command(
    source: str,
    out: str | None,
    annotators: tuple[str, ...],
    kb: str | None,
    publication: PublicationOptions,
    gold_format: str | None,
) -> None:
    """Write a data sheet in Markdown and in Croissant, with the data.

    DIR contains datasheet.md, croissant.json (Croissant 1.0), dataset.json and the data of one version, and can be
    published: `karat data add DIR` installs it elsewhere. The sheet has statistics, licence, source, guidelines,
    agreement, biases, overlap of the splits and a lint report. It lists what is unknown; nothing is guessed.

    \b
    karat data sheet mybench
    karat data sheet mybench --out published
    karat data sheet mybench --annotator anna.jsonl --annotator ben.jsonl
    karat data sheet gold.jsonl --licence "CC BY 4.0" --out published
    """
    from karat.analysis.explanation.agreement import agreement, disambiguate_corpora
    from karat.data.load import load
    from karat.data.publishing.inputs import check_publication_folder, open_publication
    from karat.kb.catalogue import open_kb
    from karat.model.errors import UsageError
    from karat.render.data.sheet import build_sheet, encode_folder, render_sheet, render_summary
    from karat.storage.atomic_writing import write_folder

    check_paths([source, *annotators, *publication.guidelines], [])
    if out is not None:
        check_publication_folder(out)
    if len(annotators) == 1:
        raise UsageError("--annotator is given once. Agreement needs the labels of at least two annotators.")
    dataset, corpora = open_publication(
        source,
        publication.metadata,
        name=publication.name,
        version=publication.version,
        changes=publication.changes,
        guidelines=publication.guidelines,
        format=gold_format,
    )
    knowledge_base = None if kb is None else open_kb(kb)
    measured = None
    if annotators:
        measured = agreement(disambiguate_corpora([load(name) for name in annotators], annotators), kb=knowledge_base)
    sheet = build_sheet(dataset, corpora, agreement=measured, kb=knowledge_base, kb_name=kb)
    if out is None:
        echo(render_sheet(sheet), nl=False)
        return
    write_folder(out, encode_folder(sheet))
    echo(render_summary(sheet, out, width=page_width()), nl=False)
