"""Automatic judgements of all tasks of a campaign, by a rule over a knowledge base or any program."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from karat.kb.protocol import KB
from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import JsonError, decode_json
from karat.protocols.verification.campaign import JudgingTask, find_id_patterns, is_plausible_id
from karat.protocols.verification.judgements import OUTCOMES, Decision
from karat.protocols.verification.outcomes import DISCARDED, auto_judge_batches, select_judgements

if TYPE_CHECKING:
    from karat.protocols.verification.store.store import CampaignStore


class AutoJudgement(NamedTuple):
    """How many links an automatic judge decided."""

    label: str
    """Name of the judge."""
    decided: int
    """Number of links with a decision that was recorded."""
    links: int
    """Number of links in these tasks."""
    controls: int = 0
    """Number of those links that are in controls."""
    discarded: int = 0
    """Number of decisions that do not count, because a control of their batch failed."""
    repeated: int = 0
    """Number of decisions that were not recorded, because the judge had judged these links before."""


def judge_campaign(
    store: CampaignStore,
    *,
    label: str,
    kb: KB | None = None,
    program: str | None = None,
    timeout: float = 3600.0,
) -> AutoJudgement:
    """Judge all tasks of a campaign by the names in `kb` or with a program, and record the decisions under `label`.

    A program reads the names in `kb`. The judge gets batches with controls, as people do. Raise `UsageError` without
    `kb` and `program`.
    """
    if kb is None and program is None:
        raise UsageError("an automatic judge needs a knowledge base or a program. Pass --kb or --program.")
    # needs SQLAlchemy, which judging by names or programs does not
    from karat.protocols.verification.store.store import SubmittedDecision

    campaign = store.campaign.require_kind("verify")
    controls = {number for batch in auto_judge_batches(campaign, label) for number in batch.controls}
    tasks = [task for task in campaign.tasks if not task.is_control or task.number in controls]
    if program is not None:
        decisions = judge_by_program(tasks, program, kb, timeout)
    else:
        assert kb is not None, "checked above"
        decisions = judge_by_names(tasks, kb)
    judge, n_submitted, n_recorded = store.get_auto_judge(label), 0, 0
    for task, task_decisions in zip(tasks, decisions, strict=True):
        submissions = [
            SubmittedDecision(
                id=f"{task.number}-{index}", link=index, decision=decision.decision, becomes=decision.becomes
            )
            for index, decision in enumerate(task_decisions)
            if decision.decision is not None
        ]
        n_submitted += len(submissions)
        n_recorded += store.record_auto_decisions(judge, label, task, submissions)
    n_control_links = sum(len(task.links) for task in tasks if task.is_control)
    n_discarded = select_judgements(campaign, store.get_records(), label).excluded.get(DISCARDED, 0)
    n_links = sum(len(task.links) for task in tasks)
    return AutoJudgement(label, n_recorded, n_links, n_control_links, n_discarded, n_submitted - n_recorded)


class AutoDecision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Decision of an automatic judge on one link."""

    decision: Decision | None
    """Decision; None if the judge makes none."""
    becomes: str | None = None
    """Entity that the link is modified to."""


class ProgramLink(msgspec.Struct, frozen=True):
    """A link as passed to a program."""

    start: int
    """Start offset in the text of the task."""
    end: int
    """End offset in the text of the task."""
    surface: str
    """Text of the mention."""
    entity: str
    """Id of the entity."""
    name: str | None
    """Name of the entity; None if unknown."""


class ProgramTask(msgspec.Struct, frozen=True):
    """A task as passed to a program, one per line, without its source."""

    text: str
    """Text of the passage."""
    links: tuple[ProgramLink, ...]
    """Links to judge."""


class ProgramResponse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Response of a program to a task, one per line."""

    decisions: tuple[AutoDecision | None, ...]
    """One decision for each link; None if the judge makes none."""


def judge_by_names(tasks: Sequence[JudgingTask], kb: KB) -> list[list[AutoDecision]]:
    """Judge links by the names in a knowledge base, and return one decision for each link of each task.

    A mention that is a name of the entity, or most often means it, verifies the link. A mention that most often means
    one other entity modifies it. Unknown mentions get no decision.
    """
    links = [(task.surface(link), link.entity) for task in tasks for link in task.links]
    entities = [entity for _, entity in links]
    columns = (
        kb.canonical_ids(entities),
        kb.names(entities),
        kb.aliases(entities),
        kb.popular_entities([surface for surface, _ in links]),
    )
    decisions = iter(
        [
            _judge_link(surface, entity, name, aliases or frozenset(), popular or frozenset())
            for (surface, _), entity, name, aliases, popular in zip(links, *columns, strict=True)
        ]
    )
    return [[next(decisions) for _ in task.links] for task in tasks]


def _judge_link(
    surface: str, entity: str, name: str | None, aliases: frozenset[str], popular: frozenset[str]
) -> AutoDecision:
    """Verify a link if its surface is a name of the entity or often means the entity.

    Otherwise modify the link, or decide nothing. `popular`: the entities that the surface most often means. A link is
    modified only if there is exactly one such entity.
    """
    if surface == name or surface in aliases or entity in popular:
        return AutoDecision(Decision.VERIFY)
    return AutoDecision(Decision.MODIFY, *popular) if len(popular) == 1 else AutoDecision(None)


def judge_by_program(
    tasks: Sequence[JudgingTask], command: str, kb: KB | None, timeout: float
) -> list[list[AutoDecision]]:
    """Judge links with a program, which reads tasks and writes decisions as JSON lines, one line for each task.

    `kb` adds the names of entities to the tasks. Raise `UsageError` if the program fails or takes longer than `timeout`
    seconds, and `InputError` if its output is invalid.
    """
    data = b"".join(msgspec.json.encode(task) + b"\n" for task in _build_program_tasks(tasks, kb))
    try:
        process = subprocess.run(shlex.split(command), input=data, stdout=subprocess.PIPE, timeout=timeout, check=False)
    except (OSError, ValueError) as problem:
        raise UsageError(f"{command!r} cannot be run ({problem}). Check the command.") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"{command!r} took longer than {timeout:g} seconds. Increase --timeout.") from None
    if process.returncode:
        raise UsageError(f"{command!r} failed with exit code {process.returncode}. Its messages are above.")
    lines, id_patterns = process.stdout.splitlines(), find_id_patterns(tasks)
    if len(lines) != len(tasks):
        raise _program_error(command, f"{len(lines)} lines", f"{len(tasks)}, one for each task")
    return [
        _parse_response(command, number, line, task, id_patterns)
        for number, (line, task) in enumerate(zip(lines, tasks, strict=True), 1)
    ]


def _build_program_tasks(tasks: Sequence[JudgingTask], kb: KB | None) -> Iterable[ProgramTask]:
    """Yield the tasks as passed to a program, with offsets relative to the passage; names are None without `kb`."""
    for task in tasks:
        names = [None] * len(task.links) if kb is None else kb.names([link.entity for link in task.links])
        yield ProgramTask(
            task.text,
            tuple(
                ProgramLink(link.start - task.start, link.end - task.start, task.surface(link), link.entity, name)
                for link, name in zip(task.links, names, strict=True)
            ),
        )


def _parse_response(
    command: str, number: int, line: bytes, task: JudgingTask, id_patterns: Collection[str]
) -> list[AutoDecision]:
    """Parse the decisions of a program on one task from its output line `number`; raise `InputError` if invalid.

    New entities have an id like those of the campaign (`id_patterns`).
    """
    label = f"{command}:{number}"
    try:
        decisions = decode_json(line, ProgramResponse).decisions
    except JsonError as problem:
        raise _program_error(label, str(problem), '{"decisions": [{"decision": "verify"}, …]}') from None
    if len(decisions) != len(task.links):
        raise _program_error(label, f"{len(decisions)} decisions", f"{len(task.links)}, one for each link")
    filled = [AutoDecision(None) if decision is None else decision for decision in decisions]
    for decision in filled:
        if decision.decision is not None and (
            decision.decision not in OUTCOMES or (decision.decision is Decision.MODIFY) != bool(decision.becomes)
        ):
            raise _program_error(
                label, f"the decision {decision.decision}", "verify, remove, or modify with the entity it becomes"
            )
        if decision.becomes and not is_plausible_id(decision.becomes, id_patterns):
            example = task.links[0].entity
            raise _program_error(label, f"the entity {decision.becomes}", f"an id written like {example}")
    return filled


def _program_error(label: str, problem: str, expected: str) -> InputError:
    """Return (not raise) the error for invalid output of a program."""
    return InputError(label, actual=problem, expected=expected, remedy="Correct the program")
