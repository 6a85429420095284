"""The tasks of BAT's Table 1 and GERBIL's experiment types, and how one task reduces to another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from karat.model.errors import UnknownNameError

TaskSource: TypeAlias = Literal["mentions", "entities", "triples", "classes", "individuals"]
"""What is compared: mentions, document-level entities, relation triples, mentions of classes (nested ones merged into
the outer one), or mentions of individuals."""

MENTION_SOURCES: Final[tuple[TaskSource, ...]] = ("mentions", "classes", "individuals")
"""The sources whose items have offsets in the text."""

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


class TaskPart(NamedTuple):
    """A task whose scores are averaged with those of other tasks."""

    task: str
    """The name of the task."""
    match: str | None = None
    """The match relation; None for the relation of the whole task."""


class Task(msgspec.Struct, frozen=True):
    """A task that systems solve."""

    title: str
    """The name in lists."""
    description: str
    """One sentence about the task."""
    source: TaskSource
    """What is compared."""
    match: Mapping[str, str] = msgspec.field(default_factory=lambda: _LINKS)
    """The relations that strong and weak annotation match mean in this task."""
    other_relations: tuple[str, ...] = ()
    """Further relations that make sense for the task."""
    has_gold_mentions: bool = False
    """Whether the system receives the gold mentions."""
    required_data: Literal["", "links", "types", "triples"] = ""
    """What gold standard and predictions must contain."""
    needs_scores: bool = False
    """Whether predictions must have scores."""
    needs_ranking: bool = False
    """Whether predictions must be ranked."""
    type_prefixes: tuple[str, ...] | None = None
    """The prefixes of the types that count; None for all types of the knowledge base."""
    parts: tuple[TaskPart, ...] = ()
    """The tasks whose scores are averaged; empty for a simple task."""

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations that are scored by default."""
        return tuple(dict.fromkeys(self.match.values()))


TASKS: dict[str, Task] = {
    "a2kb": Task(
        "Annotation",
        "The system detects mentions and links them; both are scored.",
        "mentions",
        other_relations=("mention", "mention-weak", "mention-length", "entity", "typed", "typed-weak"),
        required_data="links",
    ),
    "sa2kb": Task(
        "Scored annotation",
        "As a2kb, with a score for every annotation.",
        "mentions",
        other_relations=("mention", "mention-weak", "mention-length", "entity", "typed", "typed-weak"),
        required_data="links",
        needs_scores=True,
    ),
    "d2kb": Task(
        "Disambiguation",
        "The mentions are given and the system links them; other predictions are ignored.",
        "mentions",
        {"strong": "strong"},
        other_relations=("weak", "entity"),
        has_gold_mentions=True,
        required_data="links",
    ),
    "c2kb": Task(
        "Concepts", "The system returns the entities of each document.", "entities", _ENTITIES, required_data="links"
    ),
    "sc2kb": Task(
        "Scored concepts",
        "The system returns the entities of each document with scores.",
        "entities",
        _ENTITIES,
        required_data="links",
        needs_scores=True,
    ),
    "rc2kb": Task(
        "Ranked concepts",
        "The system returns a ranking of the entities of each document.",
        "entities",
        _ENTITIES,
        required_data="links",
        needs_ranking=True,
    ),
    "erec": Task("Recognition", "The system detects mentions; links are ignored.", "mentions", _SPANS),
    "etyping": Task(
        "Typing",
        "The mentions are given and the system predicts their types; other predictions are ignored.",
        "mentions",
        _TYPES,
        has_gold_mentions=True,
        required_data="types",
    ),
    "rt2kb": Task(
        "Recognition and typing",
        "The system detects mentions and predicts their types.",
        "mentions",
        _TYPES,
        required_data="types",
    ),
    "re": Task(
        "Relation extraction",
        "The system extracts relation triples; subject, predicate and object must each share an id with the gold.",
        "triples",
        _ENTITIES,
        required_data="triples",
    ),
    "oke1-etyping": Task(
        "OKE task 1, typing",
        "As etyping, but only the four classes of the challenge count: Person, Organization and Role of DUL, and "
        "Location of d0.",
        "mentions",
        _TYPES,
        has_gold_mentions=True,
        required_data="types",
        type_prefixes=_OKE1,
    ),
    "oke2-etyping": Task(
        "OKE task 2, typing",
        "As etyping, without mentions of classes; only types of the DOLCE ontologies count.",
        "individuals",
        _TYPES,
        has_gold_mentions=True,
        required_data="types",
        type_prefixes=_OKE2,
    ),
    "oke2-erec": Task(
        "OKE task 2, recognition",
        "The system detects mentions of classes; nested mentions are merged into the outer one first.",
        "classes",
        _SPANS,
    ),
    "oke-task1": Task(
        "OKE task 1",
        "The mean of recognition, disambiguation and typing (the measures erec, d2kb and oke1-etyping).",
        "mentions",
        parts=(TaskPart("erec"), TaskPart("d2kb", "strong"), TaskPart("oke1-etyping", "strong")),
    ),
    "oke-task2": Task(
        "OKE task 2",
        "The mean of typing without mentions of classes and of the recognition of classes after merging (the measures "
        "oke2-etyping and oke2-erec).",
        "mentions",
        parts=(TaskPart("oke2-etyping", "strong"), TaskPart("oke2-erec")),
    ),
    "oke2018-task4": Task(
        "OKE 2018 task 4",
        "The mean of relation extraction and annotation (the measures re and a2kb).",
        "mentions",
        parts=(TaskPart("re"), TaskPart("a2kb")),
    ),
}
"""All tasks by GERBIL's names in lower case."""

REDUCTIONS: tuple[tuple[str, str], ...] = (
    ("sa2kb", "a2kb"),
    ("sa2kb", "sc2kb"),
    ("sc2kb", "rc2kb"),
    ("rc2kb", "c2kb"),
    ("a2kb", "c2kb"),
    ("a2kb", "d2kb"),
)
"""Pairs of a harder and an easier task: a solution of the first gives one of the second (BAT's Figure 2)."""

SCORED_TASKS: dict[str, str] = {"a2kb": "sa2kb", "c2kb": "sc2kb"}
"""The task with scored predictions for each task without."""

TASK_ALIASES: dict[str, str] = {
    **{name: name.replace("2w", "2kb") for name in ("a2w", "sa2w", "d2w", "c2w", "sc2w", "rc2w")},
    "mentions": "erec",
    "typing": "etyping",
    "relations": "re",
    "entity-recognition": "erec",
    "entity-typing": "etyping",
    "relation-extraction": "re",
}
"""Alternative names of tasks: BAT's names, plain words and the names on GERBIL's pages."""

_SEPARATORS: Final = re.compile(r"[\W_]+")
_TASKS_BY_LETTERS: Final = {_SEPARATORS.sub("", name): TASK_ALIASES.get(name, name) for name in (*TASKS, *TASK_ALIASES)}


def parse_task(name: str) -> str:
    """Return Karat's name of a task; accepts capitals, other separators and the names in `TASK_ALIASES`.

    Raise `UnknownNameError` if there is no such task.
    """
    lower = name.lower()
    task = _TASKS_BY_LETTERS.get(_SEPARATORS.sub("", lower))
    if task is None:
        raise UnknownNameError("task", lower, [*TASKS, *TASK_ALIASES])
    return task
