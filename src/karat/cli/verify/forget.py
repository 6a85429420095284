"""`karat verify forget STORE WORKER`."""

from __future__ import annotations

import click

from karat.cli.output import say


@click.command()
@click.argument("store")
@click.argument("worker")
def command(store: str, worker: str) -> None:
    """Forget who a judge was: the judgements stay, and nothing says any more whose they are."""
    from karat.errors import UsageError
    from karat.verification.store.store import CampaignStore

    kept = CampaignStore.open(store)
    if not kept.forget(worker):
        raise UsageError(f"nobody is called {worker} in {store}. Check the name.")
    say(f"{worker} is forgotten")
    kept.database.close()
