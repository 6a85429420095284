"""The problems that linkers solve, from BAT's Table 1 and GERBIL's experiment types, and how one reduces to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from karat.errors import UnknownNameError

Source: TypeAlias = Literal["mentions", "entities", "statements", "classes", "individuals"]
"""What is compared: mentions, entities of a document without a place, statements, mentions of classes (those inside
others merged into them), or mentions of anything but classes."""

_LINKS = {"strong": "strong", "weak": "weak"}
_SPANS = {"strong": "mention", "weak": "mention-weak"}
_TYPES = {"strong": "typed", "weak": "typed-weak"}
_ENTITIES = {"strong": "entity", "weak": "entity"}
_DOLCE = "http://www.ontologydesignpatterns.org/ont/"
_OKE1 = (
    f"{_DOLCE}dul/DUL.owl#Person",
    f"{_DOLCE}dul/DUL.owl#Organization",
    f"{_DOLCE}dul/DUL.owl#Role",
    f"{_DOLCE}d0.owl#Location",
    "http://ontologydesignpatterns.org/ont/wikipedia/d0.owl#Location",
)
_OKE2 = (_DOLCE,)


class Part(NamedTuple):
    """One task of several whose scores are averaged, by a relation of its own if it has one."""

    task: str
    match: str | None = None


class Task(msgspec.Struct, frozen=True):
    """What a system was asked for.

    `match` says which relation the annotation matches strong and weak stand for here. `given`: the system is told
    the mentions. `needs` names what both sides must carry, `scored` and `ranked` what the answers must carry besides.
    `types` are how those types begin that count, where not all of the knowledge base do. A task with `parts` has the
    mean of their scores.
    """

    title: str
    says: str
    source: Source
    match: Mapping[str, str] = msgspec.field(default_factory=lambda: _LINKS)
    others: tuple[str, ...] = ()
    given: bool = False
    needs: Literal["", "links", "types", "statements"] = ""
    scored: bool = False
    ranked: bool = False
    types: tuple[str, ...] | None = None
    parts: tuple[Part, ...] = ()

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations shown where nobody names one."""
        return tuple(dict.fromkeys(self.match.values()))


TASKS: dict[str, Task] = {
    "a2kb": Task(
        "Annotation",
        "The system marks the mentions in the text and links them; both are scored.",
        "mentions",
        others=("mention", "mention-weak", "mention-length", "entity", "typed", "typed-weak"),
        needs="links",
    ),
    "sa2kb": Task(
        "Scored annotation",
        "As a2kb, with a score for every annotation.",
        "mentions",
        others=("mention", "mention-weak", "mention-length", "entity", "typed", "typed-weak"),
        needs="links",
        scored=True,
    ),
    "d2kb": Task(
        "Disambiguation",
        "The mentions are given and the system links them; other answers are left out.",
        "mentions",
        {"strong": "strong"},
        others=("weak", "entity"),
        given=True,
        needs="links",
    ),
    "c2kb": Task("Concepts", "The system names the entities of each document.", "entities", _ENTITIES, needs="links"),
    "sc2kb": Task(
        "Scored concepts",
        "The system names the entities of each document, with scores.",
        "entities",
        _ENTITIES,
        needs="links",
        scored=True,
    ),
    "rc2kb": Task(
        "Ranked concepts",
        "The system ranks the entities of each document.",
        "entities",
        _ENTITIES,
        needs="links",
        ranked=True,
    ),
    "erec": Task("Recognition", "The system marks the mentions; links are not looked at.", "mentions", _SPANS),
    "etyping": Task(
        "Typing",
        "The mentions are given and the system types them; other answers are left out.",
        "mentions",
        _TYPES,
        given=True,
        needs="types",
    ),
    "rt2kb": Task(
        "Recognition and typing", "The system marks mentions and types them.", "mentions", _TYPES, needs="types"
    ),
    "re": Task(
        "Relation extraction",
        "The system states relations; subject, predicate and object must all share an id with those of the gold.",
        "statements",
        _ENTITIES,
        needs="statements",
    ),
    "oke1-etyping": Task(
        "OKE task 1, typing",
        "As etyping, but only the four classes of the challenge count.",
        "mentions",
        _TYPES,
        given=True,
        needs="types",
        types=_OKE1,
    ),
    "oke2-etyping": Task(
        "OKE task 2, typing",
        "As etyping, without the mentions of classes, and only types of the DOLCE ontologies count.",
        "individuals",
        _TYPES,
        given=True,
        needs="types",
        types=_OKE2,
    ),
    "oke2-erec": Task(
        "OKE task 2, recognition",
        "The system marks the mentions of classes; one inside another is merged into it first.",
        "classes",
        _SPANS,
    ),
    "oke-task1": Task(
        "OKE task 1",
        "The mean of recognition, disambiguation and typing.",
        "mentions",
        parts=(Part("erec"), Part("d2kb", "strong"), Part("oke1-etyping", "strong")),
    ),
    "oke-task2": Task(
        "OKE task 2",
        "The mean of typing, without the mentions of classes, and of the recognition of classes after merging.",
        "mentions",
        parts=(Part("oke2-etyping", "strong"), Part("oke2-erec")),
    ),
    "oke2018-task4": Task(
        "OKE 2018 task 4",
        "The mean of relation extraction and annotation.",
        "mentions",
        parts=(Part("re"), Part("a2kb")),
    ),
}
"""Every task, by GERBIL's name in small letters."""

REDUCTIONS: tuple[tuple[str, str], ...] = (
    ("sa2kb", "a2kb"),
    ("sa2kb", "sc2kb"),
    ("sc2kb", "rc2kb"),
    ("rc2kb", "c2kb"),
    ("a2kb", "c2kb"),
    ("a2kb", "d2kb"),
)
"""From the harder to the easier problem: who solves the one has a solution of the other (BAT's Figure 2)."""

WITH_SCORES: dict[str, str] = {"a2kb": "sa2kb", "c2kb": "sc2kb"}
"""What a problem becomes where answers have scores."""

ALSO: dict[str, str] = {
    **{name: name.replace("2w", "2kb") for name in ("a2w", "sa2w", "d2w", "c2w", "sc2w", "rc2w")},
    "mentions": "erec",
    "typing": "etyping",
    "relations": "re",
    "oke_task1": "oke-task1",
    "oke_task2": "oke-task2",
    "oke2018task4": "oke2018-task4",
}
"""Other names of the same tasks: BAT's, and plain words."""


def task_named(name: str) -> str:
    """The name under which a task is known here; capitals and BAT's names are fine."""
    lower = name.lower()
    found = ALSO.get(lower, lower)
    if found not in TASKS:
        raise UnknownNameError("task", lower, [*TASKS, *ALSO])
    return found
