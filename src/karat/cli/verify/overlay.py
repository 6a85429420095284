"""`karat verify overlay STORE --out FILE`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.options.judging import auto_judge_option
from karat.cli.output import echo


@karat_command()
@click.argument("store")
@option("--out", required=True, metavar="FILE", help="Output file of the overlay (JSONL).")
@option("--version", default=1, show_default=True, metavar="N", help="Version number, which results name.")
@auto_judge_option
def command(store: str, out: str, version: int, auto_judge: str | None) -> None:
    """Write an overlay that corrects the gold standard.

    The overlay lists the links to add, remove or change according to the judges, with their votes.

    \b
    karat verify overlay demo.sqlite --out demo.overlay.jsonl
    karat score demo demo/prior --overlay demo.overlay.jsonl
    """
    from collections import Counter

    from karat.model.errors import UsageError
    from karat.protocols.verification.judgements import check_auto_judge
    from karat.protocols.verification.outcomes import require_judgements
    from karat.protocols.verification.overlay import (
        CONTRADICTORY,
        NO_MAJORITY,
        build_overlay,
        describe_ties,
        encode_overlay,
    )
    from karat.protocols.verification.store.store import CampaignStore
    from karat.storage.atomic_writing import open_for_writing

    if version < 1:
        raise UsageError(f"--version is {version}. Pass a number of at least 1.")
    campaign_store = CampaignStore.open(store)
    records = campaign_store.get_records()
    check_auto_judge(records, auto_judge, store)
    require_judgements(campaign_store.campaign, records, auto_judge, store)
    patch = build_overlay(campaign_store.campaign, records, version=version, machine=auto_judge)
    with open_for_writing(out) as file:
        for line in encode_overlay(patch):
            file.write(line)
    counts = Counter(change.action for change in patch.changes)
    echo(", ".join(f"{action} {counts[action]}" for action in ("add", "remove", "relink")), err=out == "-")
    for reason, count in patch.header.undecided.items():
        if reason not in (NO_MAJORITY, CONTRADICTORY):
            echo(f"unchanged {reason}: {count}", err=out == "-")
    for note in describe_ties(patch.header):
        echo(note, err=out == "-")
    campaign_store.database.close()
