"""`karat verify auto-judge STORE`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.options.scoring import kb_option
from karat.cli.output import echo


@karat_command()
@click.argument("store")
@kb_option(
    "Knowledge base whose entity names decide or, with --program, are passed to the program.  [default with --program: "
    "that of create, or starter]"
)
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
    one batch. A link keeps the first decision of a judge: for new decisions, pass another --name.

    \b
    karat verify auto-judge demo.sqlite --kb starter
    karat verify auto-judge demo.sqlite --program ./judge.py --name model-7b
    karat verify report demo.sqlite             shows the agreement with people
    """
    from karat.kb.catalogue import STARTER, open_kb
    from karat.model.errors import UsageError
    from karat.model.output.text_layout import format_count
    from karat.protocols.verification.auto_judging import judge_campaign
    from karat.protocols.verification.outcomes import DISCARDED
    from karat.protocols.verification.store.store import CampaignStore

    if kb is None and program is None:
        raise UsageError("an automatic judge needs a knowledge base or a program. Pass --kb or --program.")
    campaign_store = CampaignStore.open(store)
    names = open_kb(kb or campaign_store.options.kb_location or STARTER)
    outcome = judge_campaign(
        campaign_store,
        label=name or program or f"names of {names.name}",
        kb=names,
        program=program,
        timeout=timeout,
    )
    controls = f", {outcome.controls} of them in controls" if outcome.controls else ""
    discarded = f"; {outcome.discarded} do not count, {DISCARDED}" if outcome.discarded else ""
    echo(f"{outcome.label}: {outcome.decided} of {outcome.links} links judged{controls}{discarded}")
    if outcome.repeated:
        echo(
            f"karat: {outcome.label}: {format_count(outcome.repeated, 'link keeps', 'links keep')} the decision of an "
            "earlier run. For new decisions, pass another --name.",
            err=True,
        )
    campaign_store.database.close()
