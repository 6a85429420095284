"""`karat data show NAME`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command
from karat.cli.options.output import json_option
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@click.argument("name", metavar="NAME[@VERSION][/SPLIT]")
@json_option()
def command(name: str, json_file: str | None) -> None:
    """Show the description, versions and sources of a dataset.

    Without VERSION, all versions are shown. The output includes known problems.

    \b
    karat data show aida
    karat data show msnbc@bat2013 --json -
    """
    from karat.data.catalogue import find_dataset, list_datasets, list_splits
    from karat.data.dataset_files import find_folder
    from karat.model.errors import UnknownNameError
    from karat.model.spec.dataset import DatasetName
    from karat.render.data.datasets import encode_dataset, render_dataset

    check_paths([], [json_file])
    dataset_name = find_dataset(name)
    if dataset_name is None:
        raise UnknownNameError("dataset", name, list_datasets())
    dataset = list_splits(dataset_name)[0].dataset
    versions = [dataset_name.version] if dataset_name.version or dataset_name.split else list(dataset.versions)
    splits = [
        split
        for version in versions
        for split in list_splits(DatasetName(dataset_name.name, version, dataset_name.split))
    ]
    folders = {str(split.name): find_folder(split) for split in splits}
    write_output(json_file, lambda: encode_dataset(dataset_name.name, dataset, splits))
    print_page(lambda: render_dataset(dataset_name.name, dataset, splits, folders, width=page_width()), json_file)
