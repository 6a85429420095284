"""Stages of different systems one after another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import tee
from typing import Final

from msgspec.structs import replace

from karat.errors import UsageError
from karat.linking.named import NamedSystem, system_named
from karat.linking.stages import GIVEN, joined
from karat.model.document import Answer, Candidate, Document, Label, Reply
from karat.spec.system import STAGES, Link, Refine, Stage, asked

_JOIN: Final = re.compile(r"\+(?![^\[]*\])")


def parts_of(text: str, options: Mapping[str, str]) -> dict[Stage, NamedSystem]:
    """The systems that `DETECTOR+CANDIDATES+RANKER` names, by their stage."""
    names = _JOIN.split(text)
    if len(names) != len(STAGES) or not all(names):
        raise UsageError(f"pipeline:{text}: write pipeline:DETECTOR+CANDIDATES+RANKER, such as tagme+prior+graph.")
    return dict(zip(STAGES, (system_named(name, options) for name in names), strict=True))


def pipeline(parts: Mapping[Stage, NamedSystem], *, given: bool) -> Link:
    """The system that has these parts; those that do not see gold do not get it."""
    stages = (stage_of(part, stage, given=given) for stage, part in parts.items() if not (given and stage == "detect"))
    return joined(*([GIVEN] if given else []), *stages)


def stage_of(part: NamedSystem, stage: Stage, *, given: bool) -> Refine:
    """One stage of a system: its own, or what can be had of the whole of it."""
    system = part.system
    if stage in system.stages:
        refine = system.stages[stage](part.options)
        return refine if system.sees_gold else _blind(refine, given)
    if stage == "detect":
        return _whole(part.start(given=False), lambda document, reply: asked(document, given=False), _spans)
    if stage == "candidates" and system.spans != "never":
        return _whole(part.start(given=True), _with_spans, _considered)
    able = ", ".join(system.stages) or "none"
    raise UsageError(f"{part.name} cannot be the stage {stage} of a pipeline (it has: {able}). Choose another system.")


def _blind(refine: Refine, given: bool) -> Refine:
    return lambda pairs: refine((asked(document, given=given), reply) for document, reply in pairs)


def _whole(link: Link, ask: Callable[[Document, Reply], Document], read: Callable[[Reply, Reply], Reply]) -> Refine:
    """A system that is asked as a whole, and of whose replies some is read."""

    def refine(pairs: Iterable[tuple[Document, Reply]]) -> Iterator[Reply]:
        one, other = tee(pairs)
        replies = link(ask(document, reply) for document, reply in one)
        for (_, before), reply in zip(other, replies, strict=True):
            yield replace(before, error=reply.error) if reply.error else read(before, reply)

    return refine


def _with_spans(document: Document, reply: Reply) -> Document:
    spans = sorted({(answer.start, answer.end) for answer in reply.answers})
    return Document(document.id, document.text, tuple(Label(start, end) for start, end in spans))


def _spans(before: Reply, reply: Reply) -> Reply:
    return replace(before, answers=tuple(Answer(answer.start, answer.end) for answer in reply.answers))


def _considered(before: Reply, reply: Reply) -> Reply:
    """Mentions with the candidates of a reply; where it says none, what it linked to is the only one."""
    found = {(answer.start, answer.end): answer for answer in reply.answers}
    answers = [
        replace(answer, candidates=_said(found[answer.start, answer.end]))
        if (answer.start, answer.end) in found
        else answer
        for answer in before.answers
    ]
    return replace(before, answers=tuple(answers))


def _said(answer: Answer) -> tuple[Candidate, ...]:
    if answer.candidates or not isinstance(answer.entity, str):
        return answer.candidates
    return (Candidate(answer.entity, answer.score),)
