"""`karat data remove NAME`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo


@karat_command()
@click.argument("name", metavar="NAME[@VERSION]")
@option("--version", metavar="VERSION", help="Version to delete.  [default: all versions]")
def command(name: str, version: str | None) -> None:
    """Delete a dataset that you added.

    The files in the catalogue are deleted, and nothing else. Datasets of Karat cannot be removed.

    \b
    karat data remove mybench
    karat data remove mybench --version 1
    """
    from karat.data.publishing.registration import remove_dataset
    from karat.model.errors import UsageError
    from karat.model.spec.dataset import parse_dataset

    dataset = parse_dataset(name)
    if dataset.split is not None:
        raise UsageError(f"{name}: a split cannot be removed alone. Name the dataset, or a version of it.")
    if None not in (dataset.version, version) and dataset.version != version:
        raise UsageError(f"{name} and --version {version} are two versions. Name one.")
    versions = remove_dataset(dataset.name, version or dataset.version)
    for removed in [f"{dataset.name}@{version}" for version in versions] or [dataset.name]:
        echo(f"removed {removed}")
