"""`karat verify machine STORE`."""

from __future__ import annotations

import click

from karat.cli.output import say


@click.command()
@click.argument("store")
@click.option("--names", "kb", metavar="NAME|DIR", help="Judge by the names in this knowledge base.")
@click.option("--program", metavar="COMMAND", help="Judge by this program: tasks come and decisions go as JSON lines.")
@click.option("--name", metavar="NAME", help="What the machine is called.  [default: names, or the program]")
@click.option("--timeout", default=3600.0, show_default=True, metavar="SECONDS", help="How long a program may take.")
def command(store: str, kb: str | None, program: str | None, name: str | None, timeout: float) -> None:
    """Let a machine judge all tasks. It is always labelled, never mixed with people, and keeps no task from them.

    \b
    karat verify machine demo.sqlite --names starter
    karat verify machine demo.sqlite --program "python ask_a_model.py" --name model-7b
    karat verify report demo.sqlite             says how far it agrees with people
    """
    from karat.errors import UsageError
    from karat.kb.opened import open_kb
    from karat.verification.machines import by_names, by_program
    from karat.verification.store.store import CampaignStore, Said

    if (kb is None) == (program is None):
        raise UsageError("a machine judges by --names or by --program. Give one of the two.")
    kept = CampaignStore.open(store)
    tasks = kept.campaign.of_kind("verify").tasks
    if program is not None:
        said = by_program(tasks, program, None, timeout)
    else:
        assert kb is not None
        said = by_names(tasks, open_kb(kb))
    label = name or (f"names of {kb}" if kb is not None else program or "")
    judge = kept.machine(label)
    count = 0
    for task, own in zip(tasks, said, strict=True):
        kept_of = [
            Said(id=f"{task.number}-{place}", link=place, decision=one.decision, becomes=one.becomes)
            for place, one in enumerate(own)
            if one.decision is not None
        ]
        kept.by_machine(judge, label, task, kept_of)
        count += len(kept_of)
    say(f"{label}: {count} of {sum(len(task.links) for task in tasks)} links judged")
    kept.database.close()
