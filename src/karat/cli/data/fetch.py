"""`karat data fetch NAME…`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.output import print_page, write_output

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar  # click gives the type no public name

    from karat.data.dataset_files import Progress


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
    from karat.data.catalogue import find_dataset, list_splits
    from karat.data.dataset_files import fetch_split
    from karat.model.errors import UnknownNameError
    from karat.model.registry import list_plugins
    from karat.render.data.datasets import encode_fetch_results, render_fetch_results

    check_paths([], [json_file])
    splits = []
    for name in datasets:
        dataset_name = find_dataset(name)
        if dataset_name is None:
            raise UnknownNameError("dataset", name, list_plugins("datasets"))
        splits += list_splits(dataset_name)
    fetched_splits = {}
    for split in splits:
        with _show_progress_bars() as progress:
            fetched = fetched_splits[str(split.name)] = fetch_split(
                split, folder=source_folder, link=link, progress=progress
            )
        print_page(partial(render_fetch_results, split, fetched), json_file)
    write_output(json_file, lambda: encode_fetch_results(fetched_splits))


@contextmanager
def _show_progress_bars() -> Iterator[Progress | None]:
    """Show a progress bar for each downloaded file inside the block, if standard error is a terminal.

    Yields the function that updates a bar (path, bytes done, total bytes or None), or None without a terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    bars: dict[str, ProgressBar[int]] = {}

    def report(path: str, done: int, total: int | None) -> None:
        if path not in bars and total is not None:
            bars[path] = click.progressbar(length=total, label=Path(path).name, file=sys.stderr)
        if path in bars:
            bars[path].update(done - bars[path].pos)

    try:
        yield report
    finally:
        for bar in bars.values():
            bar.render_finish()
