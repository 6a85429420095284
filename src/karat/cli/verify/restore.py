"""`karat verify restore FILE STORE`."""

from __future__ import annotations

import click

from karat.cli.output import say


@click.command()
@click.argument("file")
@click.argument("store")
def command(file: str, store: str) -> None:
    """Put a backup into an empty database: a new file, or postgresql://…."""
    from karat.fitting import counted
    from karat.storage.files import Source
    from karat.verification.store.copies import restored

    source = Source(file)
    with source.stream() as lines:
        kept = restored(store, source.label, lines)
    say(f"{kept.database.label}: {kept.terms.name}, {counted(len(kept.records()), 'record')}")
    kept.database.close()
