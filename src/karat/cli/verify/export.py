"""`karat verify export STORE --out FILE`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option


@karat_command()
@click.argument("store")
@option("--out", default="-", show_default=True, metavar="FILE", help="Output file of the judgements (JSONL).")
def command(store: str, out: str) -> None:
    """Export the judgements under pseudonyms.

    Each record has the document, the mention and its entity, the decision, the source, and `is_control` if the task is
    a control. Records of the judge `lead` have `is_lead_decision` and are no judgements. An `undo` withdraws the record
    `undone_id`, and a later record of a judge on the same link replaces the earlier one. `seconds` is as the page
    measured it; reports cap it by the server's clock. The texts are in the backup (`karat verify backup`).
    """
    from karat.protocols.verification.store.backups import export_judgements
    from karat.protocols.verification.store.store import CampaignStore
    from karat.storage.atomic_writing import open_for_writing

    campaign_store = CampaignStore.open(store)
    with open_for_writing(out) as file:
        for line in export_judgements(campaign_store):
            file.write(line)
    campaign_store.database.close()
