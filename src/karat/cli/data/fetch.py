"""`karat data fetch NAME…`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.output import print_page, write_output
from karat.cli.progress import show_progress_bars


@karat_command()
@click.argument("datasets", nargs=-1, required=True, metavar="NAME[@VERSION][/SPLIT]…")
@option(
    "--from",
    "source_folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder with local copies to use instead of downloading.",
)
@option(
    "--link",
    is_flag=True,
    help="With --from, link to the files instead of copying them.",
    needs=["--from"],
    is_strict=True,
)
@json_option("the fetched files")
def command(datasets: tuple[str, ...], source_folder: Path | None, link: bool, json_file: str | None) -> None:
    """Download datasets and verify their checksums.

    Without SPLIT, all splits of the version are downloaded. Files go into the folder KARAT_HOME or, by default, into
    the data folder of the platform. An interrupted download resumes; a file with a wrong checksum is rejected. FOLDER
    contains the files of a dataset, or has the layout of the cache. For data that may not be redistributed, the command
    explains how to obtain it and exits with code 2.

    \b
    karat data fetch kore50
    karat data fetch aida --from ~/conll2003
    """
    from karat.data.catalogue import find_dataset, list_datasets, list_splits
    from karat.data.dataset_files import fetch_split
    from karat.model.errors import UnknownNameError
    from karat.render.data.datasets import encode_fetch_results, render_fetch_results

    check_paths([], [json_file])
    splits = []
    for name in datasets:
        dataset_name = find_dataset(name)
        if dataset_name is None:
            raise UnknownNameError("dataset", name, list_datasets())
        splits += list_splits(dataset_name)
    fetched_splits = {}
    for split in splits:
        with show_progress_bars() as progress:
            fetched = fetched_splits[str(split.name)] = fetch_split(
                split, folder=source_folder, link=link, progress=progress
            )
        print_page(partial(render_fetch_results, split, fetched), json_file)
    write_output(json_file, lambda: encode_fetch_results(fetched_splits))
