"""`karat verify auto-judge STORE`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.options.scoring import kb_option
from karat.cli.output import echo


@karat_command()
@click.argument("store")
@kb_option("Knowledge base whose entity names decide.")
@option("--program", metavar="COMMAND", help="Program that decides: it reads tasks and writes decisions as JSON lines.")
@option("--name", metavar="NAME", help="Name of the automatic judge.  [default: from --kb or --program]")
@option(
    "--timeout",
    default=3600.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of the program.",
    needs=["--program"],
)
def command(store: str, kb: str | None, program: str | None, name: str | None, timeout: float) -> None:
    """Judge all tasks with a rule or a program.

    Automatic judgements are labelled, never mixed with human judgements, and leave all tasks open for people. The judge
    is tested like people: in batches of tasks, each with a control of its own. A wrong decision on a control discards
    one batch.

    \b
    karat verify auto-judge demo.sqlite --kb starter
    karat verify auto-judge demo.sqlite --program ./judge.py --name model-7b
    karat verify report demo.sqlite             shows the agreement with people
    """
    from karat.kb.catalogue import open_kb
    from karat.model.errors import UsageError
    from karat.protocols.verification.auto_judging import judge_campaign
    from karat.protocols.verification.outcomes import DISCARDED
    from karat.protocols.verification.store.store import CampaignStore

    if (kb is None) == (program is None):
        raise UsageError("an automatic judge needs either --kb or --program. Pass one of them.")
    campaign_store = CampaignStore.open(store)
    outcome = judge_campaign(
        campaign_store,
        label=name or (f"names of {kb}" if kb is not None else program or ""),
        kb=None if kb is None else open_kb(kb),
        program=program,
        timeout=timeout,
    )
    controls = f", {outcome.controls} of them in controls" if outcome.controls else ""
    discarded = f"; {outcome.discarded} do not count, {DISCARDED}" if outcome.discarded else ""
    echo(f"{outcome.label}: {outcome.decided} of {outcome.links} links judged{controls}{discarded}")
    campaign_store.database.close()
