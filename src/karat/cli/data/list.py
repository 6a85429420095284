"""`karat data list`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, width, write


@click.command()
@click.option("--all", "everything", is_flag=True, help="Every version and split, each under its full name.")
@click.option("--task", metavar="TASK", help="Only benchmarks for this task (a2kb, d2kb, c2kb, …).")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write the list as JSON.")
def command(everything: bool, task: str | None, json_file: str | None) -> None:
    """List the benchmarks that Karat knows.

    A benchmark is named NAME[@VERSION][/SPLIT]. Without a version it is the first one; a name with a version never
    changes meaning. The last columns say whether the checksums of its files are known, and whether they are here, can
    be fetched with `karat data fetch`, or have to be brought.

    \b
    karat data list
    karat data list --all --task d2kb
    karat data list --json -
    """
    from karat.data.catalogue import every, lies_in
    from karat.pages.data.datasets import list_json, list_page, listed
    from karat.registry import get, names
    from karat.spec.choices.task import task_named
    from karat.spec.dataset import Dataset, DatasetName

    apart([], [json_file])
    wanted = None if task is None else task_named(task)
    found = []
    for name in names("datasets"):
        dataset = get("datasets", name, Dataset)
        if wanted is None or wanted in dataset.tasks:
            versions = list(dataset.versions) if everything else list(dataset.versions)[:1]
            found += [one for version in versions for one in every(DatasetName(name, version))]
    rows = [listed(one, here=lies_in(one) is not None) for one in found]
    write(json_file, lambda: list_json(rows))
    show(lambda: list_page(rows, width=width()), json_file)
