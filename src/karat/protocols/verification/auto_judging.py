"""Automatic judgements of all tasks of a campaign."""

from __future__ import annotations

from typing import NamedTuple

from karat.kb.protocol import KB
from karat.model.errors import UsageError
from karat.protocols.verification.auto_judges import judge_by_names, judge_by_program
from karat.protocols.verification.outcomes import auto_judge_batches
from karat.protocols.verification.store.store import CampaignStore, SubmittedDecision


class AutoJudgement(NamedTuple):
    """How many links an automatic judge decided."""

    label: str
    """Name of the judge."""
    decided: int
    """Number of links with a decision."""
    links: int
    """Number of links in all tasks."""


def judge_campaign(
    store: CampaignStore,
    *,
    label: str,
    kb: KB | None = None,
    program: str | None = None,
    timeout: float = 3600.0,
) -> AutoJudgement:
    """Judge all tasks of a campaign by the names in `kb` or with a program, and record the decisions under `label`.

    The judge gets batches with controls, as people do. Raise `UsageError` unless either `kb` or `program` is given.
    """
    if (kb is None) == (program is None):
        raise UsageError("an automatic judge needs either --kb or --program. Pass one of them.")
    campaign = store.campaign.require_kind("verify")
    controls = {number for batch in auto_judge_batches(campaign, label) for number in batch.controls}
    tasks = [task for task in campaign.tasks if not task.is_control or task.number in controls]
    if program is not None:
        decisions = judge_by_program(tasks, program, None, timeout)
    else:
        assert kb is not None, "checked above"
        decisions = judge_by_names(tasks, kb)
    judge, count = store.get_auto_judge(label), 0
    for task, task_decisions in zip(tasks, decisions, strict=True):
        submissions = [
            SubmittedDecision(
                id=f"{task.number}-{index}", link=index, decision=decision.decision, becomes=decision.becomes
            )
            for index, decision in enumerate(task_decisions)
            if decision.decision is not None
        ]
        store.record_auto_decisions(judge, label, task, submissions)
        count += len(submissions)
    return AutoJudgement(label, count, sum(len(task.links) for task in tasks))
