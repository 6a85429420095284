"""`karat annotate guidelines [NAME|STORE]`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo


@karat_command()
@click.argument("source", required=False, metavar="[NAME|STORE]")
@option("--replace", "replacement", metavar="NAME|FILE", help="Guidelines that replace those of the project STORE.")
@option("--all", "all_versions", is_flag=True, help="Print all versions of the project, with their times.")
def command(source: str | None, replacement: str | None, all_versions: bool) -> None:
    """Show or replace the guidelines of a project.

    Without an argument, the built-in guidelines are listed. The database keeps every version, and each label records
    the version under which it was made.

    \b
    karat annotate guidelines
    karat annotate guidelines fair > mine.md
    karat annotate guidelines demo.sqlite --replace mine.md
    """
    from karat.model.errors import UsageError
    from karat.protocols.annotation.guidelines import get_guidelines, list_guidelines, read_guidelines

    if source is None or source in list_guidelines():
        if replacement is not None or all_versions:
            raise UsageError("--replace and --all need a project. Pass the database of one.")
        texts = (
            [get_guidelines(source).text] if source else [get_guidelines(name).version for name in list_guidelines()]
        )
        for text in texts:
            echo(text.rstrip("\n"))
        return
    from karat.protocols.annotation.store.store import AnnotationStore

    new_version = None if replacement is None else read_guidelines(replacement)
    store = AnnotationStore.open(source)
    if new_version is not None:
        version = store.set_guidelines(new_version.name, new_version.text)
        echo(f"{store.database.label}: guidelines {version.version}")
    else:
        versions = store.project.guidelines if all_versions else store.project.guidelines[-1:]
        if not versions:
            echo(f"{store.database.label}: the guidelines are unknown. --replace FILE stores some.", err=True)
        for version in versions:
            if all_versions:
                echo(f"{version.version}{f' since {version.since}' if version.since else ''}\n")
            echo(version.text.rstrip("\n") + "\n" * all_versions)
    store.database.close()
