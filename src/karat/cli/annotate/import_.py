"""`karat annotate import STORE FILE`."""

from __future__ import annotations

from pathlib import PurePath

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.reading import input_options
from karat.cli.output import echo
from karat.model.counts.skip_counter import name_locations


@karat_command()
@click.argument("store")
@click.argument("file")
@option("--name", metavar="NAME", help="Name of a new project.  [default: name in FILE, of STORE with --annotator]")
@option("--guidelines", metavar="NAME|FILE", help="Guidelines of a new project.  [default: those in FILE]")
@option("--annotator", metavar="NAME", help="Name of the annotator, if FILE has the labels of one without a name.")
@option("--from", "source_format", metavar="FORMAT", help="Format of FILE, if not detected.")
@input_options
def command(
    store: str, file: str, name: str | None, guidelines: str | None, annotator: str | None, source_format: str | None
) -> None:
    """Import the labels of annotators from Label Studio, INCEpTION, doccano or any gold format.

    STORE is the database of a project with the same documents, or a new one, which is created. Finished documents can
    be compared and adjudicated as if they had been annotated in Karat. Adjudicated labels become decisions. doccano
    exports one file for each annotator: pass the zip file, or each file with --annotator. Other gold formats, such as
    brat, need --annotator.

    \b
    karat annotate import news.sqlite label-studio.json
    karat annotate import news.sqlite inception-project.zip --name news
    karat annotate import news.sqlite anna.jsonl --annotator anna
    karat annotate import news.sqlite brat/ben --annotator ben
    karat annotate report news.sqlite
    """
    from karat.data.load import load_annotations, load_unnamed_labels
    from karat.model.errors import UsageError
    from karat.model.output.text_layout import format_count
    from karat.protocols.annotation.store.imports import open_or_create
    from karat.protocols.annotation.tool_files import name_annotator
    from karat.render.annotation.report import format_counts

    check_paths([file], [])
    annotated = load_annotations(file, format=source_format)
    if annotated is None:
        if annotator is None:
            raise UsageError(f"{file}: the file does not name its annotator. Pass --annotator NAME.")
        annotated = load_unnamed_labels(file, format=source_format)
    if annotator is not None:
        annotated = name_annotator(annotated, annotator)
        name = name or PurePath(store).stem  # FILE is often called like the annotator, who stays unnamed
    counts = open_or_create(store, annotated, name=name, guidelines=guidelines)
    echo(f"{store}: {format_count(len(annotated.documents), 'document')}, {format_counts(counts) or 'no labels'}")
    for description, count in name_locations(annotated.skipped).items():
        echo(f"  {description}: {count:,}")
