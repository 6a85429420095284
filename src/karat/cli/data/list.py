"""`karat data list`."""

from __future__ import annotations

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.scoring import task_option
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@option("--all", "show_all", is_flag=True, help="List every version and split by its full name.")
@task_option("Task that the datasets must support (a2kb, d2kb, c2kb, …).")
@json_option("the list")
def command(show_all: bool, task: str | None, json_file: str | None) -> None:
    """List the datasets of Karat and those that you added.

    A dataset is named NAME[@VERSION][/SPLIT]. The default is the first version that `karat data show NAME` lists, which
    is the newest of a dataset that you added; a name with a version never changes meaning. The last columns show
    whether checksums are known, and whether the files are on this machine, can be downloaded with `karat data fetch`,
    or must be obtained by hand.

    \b
    karat data list
    karat data list --all --task d2kb
    karat data list --json -
    """
    from karat.data.catalogue import get_dataset, list_datasets, list_splits
    from karat.data.dataset_files import find_folder
    from karat.model.spec.dataset import DatasetName
    from karat.model.spec.settings.task import parse_task
    from karat.render.data.datasets import build_entry, encode_list, render_list

    check_paths([], [json_file])
    task_id = None if task is None else parse_task(task)
    splits = []
    for name in list_datasets():
        dataset = get_dataset(name)
        if task_id is None or task_id in dataset.tasks:
            versions = list(dataset.versions) if show_all else list(dataset.versions)[:1]
            splits += [split for version in versions for split in list_splits(DatasetName(name, version))]
    rows = [build_entry(split, is_local=find_folder(split) is not None) for split in splits]
    write_output(json_file, lambda: encode_list(rows))
    print_page(lambda: render_list(rows, width=page_width()), json_file)
