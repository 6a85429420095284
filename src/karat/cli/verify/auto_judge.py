"""`karat verify auto-judge STORE`."""

from __future__ import annotations

import click

from karat.cli.output import echo


@click.command()
@click.argument("store")
@click.option("--kb", metavar="NAME|DIR", help="Knowledge base whose entity names decide.")
@click.option(
    "--program", metavar="COMMAND", help="Program that decides: it reads tasks and writes decisions as JSON lines."
)
@click.option("--name", metavar="NAME", help="Name of the automatic judge.  [default: from --kb or --program]")
@click.option("--timeout", default=3600.0, show_default=True, metavar="SECONDS", help="Time limit of the program.")
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
    from karat.protocols.verification.auto_judges import judge_by_names, judge_by_program
    from karat.protocols.verification.outcomes import auto_judge_batches
    from karat.protocols.verification.store.store import CampaignStore, SubmittedDecision

    if (kb is None) == (program is None):
        raise UsageError("an automatic judge needs either --kb or --program. Pass one of them.")
    campaign_store = CampaignStore.open(store)
    label = name or (f"names of {kb}" if kb is not None else program or "")
    campaign = campaign_store.campaign.require_kind("verify")
    controls = {number for batch in auto_judge_batches(campaign, label) for number in batch.controls}
    tasks = [task for task in campaign.tasks if not task.is_control or task.number in controls]
    if program is not None:
        decisions = judge_by_program(tasks, program, None, timeout)
    else:
        assert kb is not None
        decisions = judge_by_names(tasks, open_kb(kb))
    judge = campaign_store.get_auto_judge(label)
    count = 0
    for task, task_decisions in zip(tasks, decisions, strict=True):
        submissions = [
            SubmittedDecision(
                id=f"{task.number}-{index}", link=index, decision=decision.decision, becomes=decision.becomes
            )
            for index, decision in enumerate(task_decisions)
            if decision.decision is not None
        ]
        campaign_store.record_auto_decisions(judge, label, task, submissions)
        count += len(submissions)
    echo(f"{label}: {count} of {sum(len(task.links) for task in tasks)} links judged")
    campaign_store.database.close()
