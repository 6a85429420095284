"""`karat data add FILE --name NAME`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.publishing import PublicationOptions, publication_options
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import gold_format_option
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@click.argument("source", required=False, metavar="[FILE|FOLDER]")
@option("--split", "splits", multiple=True, metavar="NAME=FILE", help="Split and its file (repeatable).")
@publication_options(
    "Name of the dataset: lowercase letters, digits and hyphens.",
    "Name of the version.  [default: 1 for a new dataset]",
)
@gold_format_option("FILE")
@json_option("the manifest")
@input_options
def command(
    source: str | None,
    splits: tuple[str, ...],
    publication: PublicationOptions,
    gold_format: str | None,
    json_file: str | None,
) -> None:
    """Add a dataset under a name that all commands accept.

    FILE is a gold standard in any format, or the folder that `karat data split` wrote. A published FOLDER, with a
    dataset.json, is installed next to other versions of the dataset. The data are copied into the folder `datasets` of
    KARAT_HOME, as one line of JSON per document. A version never changes. What a new version does not state is taken
    from the version before it.

    \b
    karat data add gold.jsonl --name mybench --licence "CC BY 4.0"
    karat data add better.jsonl --name mybench --version 2 --changes "12 links."
    karat data add --name mybench --split dev=dev.ttl --split test=test.ttl
    karat data add parts --name mybench --version 3
    karat data add downloads/mybench
    """
    from pathlib import Path

    from karat.data.publishing.inputs import is_published_folder, load_splits
    from karat.data.publishing.registration import add_version, build_publication, install_folder
    from karat.model.errors import UsageError
    from karat.model.output.json_files import encode_indented
    from karat.render.data.publishing import render_addition

    check_paths([source, *publication.guidelines], [json_file])
    if source is not None and not splits and is_published_folder(source):
        if any((publication.version, publication.changes, publication.guidelines)) or publication.metadata.is_stated:
            raise UsageError(f"{source} is a published folder, whose versions never change. Pass only --name.")
        addition = install_folder(Path(source), publication.name)
    elif publication.name is None:
        raise UsageError("the dataset needs a name. Add --name NAME.")
    else:
        addition = add_version(
            build_publication(
                publication.name,
                load_splits(source, splits, format=gold_format),
                publication.metadata,
                version=publication.version,
                changes=publication.changes,
                guidelines=publication.guidelines,
            )
        )
    write_output(json_file, lambda: encode_indented(addition.manifest))
    print_page(lambda: render_addition(addition, width=page_width()), json_file)
