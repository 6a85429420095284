"""`karat annotate round STORE`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo


@karat_command()
@click.argument("store")
@option("--dry-run", is_flag=True, help="Print what the round would go over, and change nothing.")
def command(store: str, dry_run: bool) -> None:
    """Start another round after adjudication.

    Annotators go over the documents in which the adjudicator decided otherwise than one of them. Their labels are
    replaced by the adjudicated ones, and the documents are open again. Documents with undecided regions wait for a
    later round.

    \b
    karat annotate round demo.sqlite --dry-run
    karat annotate round demo.sqlite
    """
    from karat.protocols.annotation.rounds import plan_round
    from karat.protocols.annotation.store.store import AnnotationStore

    annotation_store = AnnotationStore.open(store)
    number = annotation_store.round + 1
    plan = (
        plan_round(annotation_store.project, annotation_store.get_records(), number)
        if dry_run
        else annotation_store.start_round()
    )
    counts = ", ".join(f"{count} {description}" for description, count in plan.counts.items())
    echo(f"{annotation_store.database.label}: round {number}{' (not started)' * dry_run}: {counts}")
    annotation_store.database.close()
