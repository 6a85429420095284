"""`karat data show NAME`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, width, write


@click.command()
@click.argument("name", metavar="NAME[@VERSION][/SPLIT]")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write everything as JSON.")
def command(name: str, json_file: str | None) -> None:
    """Say what is known about a benchmark: what it is, where it comes from, its versions, and what others found.

    Without a version all are shown.

    \b
    karat data show aida
    karat data show msnbc@bat2013 --json -
    """
    from karat.data.catalogue import every, lies_in, named
    from karat.errors import UnknownNameError
    from karat.pages.data.datasets import show_json, show_page
    from karat.registry import names
    from karat.spec.dataset import DatasetName

    apart([], [json_file])
    asked = named(name)
    if asked is None:
        raise UnknownNameError("dataset", name, names("datasets"))
    first = every(asked)[0].dataset
    versions = [asked.version] if asked.version or asked.split else list(first.versions)
    shown = [one for version in versions for one in every(DatasetName(asked.name, version, asked.split))]
    folders = {str(one.name): lies_in(one) for one in shown}
    write(json_file, lambda: show_json(asked.name, first, shown))
    show(lambda: show_page(asked.name, first, shown, folders, width=width()), json_file)
