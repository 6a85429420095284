"""Judges that are no people: a rule over a knowledge base, or any program. They are always labelled as such."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Sequence

import msgspec

from karat.errors import InputError, UsageError
from karat.kb.protocol import KB
from karat.verification.campaign import JudgingTask
from karat.verification.decisions import OUTCOMES, Decision


class MachineSays(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a machine says of one link; None is nothing."""

    decision: Decision | None
    becomes: str | None = None


class AskedLink(msgspec.Struct, frozen=True):
    """A link as a program gets it; offsets are those of the text beside it."""

    start: int
    end: int
    surface: str
    entity: str
    name: str | None


class AskedTask(msgspec.Struct, frozen=True):
    """A task as a program gets it, one on each line: nothing says whose links these are."""

    text: str
    links: tuple[AskedLink, ...]


class ProgramSays(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a program answers to a task, one on each line: as many decisions as there are links."""

    decisions: tuple[MachineSays, ...]


def by_names(tasks: Sequence[JudgingTask], kb: KB) -> list[list[MachineSays]]:
    """A rule: what a knowledge base says of words and entity.

    Words that are a name of the entity, or that most often stand for it, verify the link. Words that most often stand
    for one other entity modify it. Of words that it does not know the knowledge base says nothing.
    """
    links = [(task.surface(link), link.entity) for task in tasks for link in task.links]
    entities = [entity for _, entity in links]
    columns = (
        kb.canonical(entities),
        kb.names(entities),
        kb.aliases(entities),
        kb.popular([words for words, _ in links]),
    )
    found = iter(
        [
            _by_names(words, entity, name, aliases or frozenset(), popular or frozenset())
            for (words, _), entity, name, aliases, popular in zip(links, *columns, strict=True)
        ]
    )
    return [[next(found) for _ in task.links] for task in tasks]


def _by_names(
    words: str, entity: str, name: str | None, aliases: frozenset[str], popular: frozenset[str]
) -> MachineSays:
    if words == name or words in aliases or entity in popular:
        return MachineSays(Decision.VERIFY)
    return MachineSays(Decision.MODIFY, *popular) if len(popular) == 1 else MachineSays(None)


def by_program(tasks: Sequence[JudgingTask], command: str, kb: KB | None, seconds: float) -> list[list[MachineSays]]:
    """Any program, such as one that asks a language model: tasks and decisions are JSON lines."""
    data = b"".join(msgspec.json.encode(asked) + b"\n" for asked in _asked(tasks, kb))
    try:
        done = subprocess.run(shlex.split(command), input=data, stdout=subprocess.PIPE, timeout=seconds, check=False)
    except (OSError, ValueError) as problem:
        raise UsageError(f"{command!r} cannot be run ({problem}). Check the command.") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"{command!r} took longer than {seconds:g} seconds. Give it more with --timeout.") from None
    if done.returncode:
        raise UsageError(f"{command!r} ended with code {done.returncode}. What it said is above.")
    lines = done.stdout.splitlines()
    if len(lines) != len(tasks):
        raise _refused(command, f"{len(lines)} lines", f"{len(tasks)}, one for each task")
    return [
        _answered(command, number, line, task) for number, (line, task) in enumerate(zip(lines, tasks, strict=True), 1)
    ]


def _asked(tasks: Sequence[JudgingTask], kb: KB | None) -> Iterable[AskedTask]:
    for task in tasks:
        names = [None] * len(task.links) if kb is None else kb.names([link.entity for link in task.links])
        yield AskedTask(
            task.text,
            tuple(
                AskedLink(link.start - task.start, link.end - task.start, task.surface(link), link.entity, name)
                for link, name in zip(task.links, names, strict=True)
            ),
        )


def _answered(command: str, number: int, line: bytes, task: JudgingTask) -> list[MachineSays]:
    where = f"{command}:{number}"
    try:
        said = msgspec.json.decode(line, type=ProgramSays).decisions
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise _refused(where, str(problem), '{"decisions": [{"decision": "verify"}, …]}') from None
    if len(said) != len(task.links):
        raise _refused(where, f"{len(said)} decisions", f"{len(task.links)}, one for each link")
    for one in said:
        if one.decision is not None and (
            one.decision not in OUTCOMES or (one.decision is Decision.MODIFY) != bool(one.becomes)
        ):
            raise _refused(
                where, f"the decision {one.decision}", "verify, remove, or modify with the entity it becomes"
            )
    return list(said)


def _refused(where: str, found: str, expected: str) -> InputError:
    return InputError(where, found=found, expected=expected, remedy="Correct the program")
