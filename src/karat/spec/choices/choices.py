"""Everything that someone could have chosen otherwise: by name, as prose, and as typed values made once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from karat.errors import UnknownNameError, UsageError
from karat.spec.choices.conventions import (
    Alternatives,
    Assignment,
    Categories,
    Convention,
    Duplicates,
    EvaluationSpan,
    FalseCoreference,
    Given,
    Groups,
    Ids,
    Macro,
    Missing,
    Near,
    Nil,
    Optional,
    Overlaps,
    Quantities,
    Spans,
    Typing,
    Unlinked,
    Unnamed,
)
from karat.spec.choices.empty import EMPTY, EmptyRule
from karat.spec.choices.task import TASKS, Task, task_named
from karat.spec.choices.threshold import Sweep, Threshold, threshold_of


class Choice(NamedTuple):
    """A convention that someone could have chosen otherwise: its values, and what each means as prose.

    A choice without values is open: any text that makes sense there. `ordered` are the values that look at the order
    of mentions in the files.
    """

    title: str
    values: Mapping[str, str]
    open: str = ""
    ordered: frozenset[str] = frozenset()

    def sentence(self, value: str) -> str:
        """What a value means."""
        says = self.values.get(value) or self.open.format(value)
        return f"{says} {IN_ORDER}" if value in self.ordered else says


IN_ORDER = "It depends on the order of mentions in the files."
"""What is said of all values and relations that look at it."""


def _closed(title: str, kind: type[Convention]) -> Choice:
    ordered = frozenset(str(value) for value in kind if value.ordered)
    return Choice(title, {str(value): value.says for value in kind}, ordered=ordered)


CHOICES: dict[str, Choice] = {
    "task": Choice("Task", {name: task.says for name, task in TASKS.items()}),
    "given": _closed("Given mentions", Given),
    "match": Choice(
        "Relations",
        {},
        open="Answers are compared with the gold standard by these relations, each with scores of its own: {}.",
    ),
    "spans": _closed("Spans", Spans),
    "assignment": _closed("Assignment", Assignment),
    "nil": _closed("NIL", Nil),
    "prefixes": Choice(
        "Prefixes of the knowledge base",
        {
            "none": "All ids are those of the knowledge base.",
            "gerbil": "Ids of the knowledge base begin with one of GERBIL's prefixes: DBpedia resources and ontology, "
            "DUL and its d0 module, Wikidata entities, d-nb.info.",
        },
        open="Ids of the knowledge base begin with one of (separated by spaces or commas): {}.",
    ),
    "optional": _closed("Optional mentions", Optional),
    "alternatives": _closed("Alternatives", Alternatives),
    "unlinked": _closed("Answers without link", Unlinked),
    "overlaps": _closed("Overlapping annotations", Overlaps),
    "duplicates": _closed("Duplicates", Duplicates),
    "typing": _closed("Types", Typing),
    "span": _closed("Evaluation span", EvaluationSpan),
    "quantities": _closed("Quantities and datetimes", Quantities),
    "empty": Choice("Empty documents", {name: rule.says for name, rule in EMPTY.items()}),
    "macro": _closed("Macro scores", Macro),
    "threshold": Choice(
        "Threshold",
        {
            "none": "All answers count, whatever their score.",
            "oracle": "Oracle: of all scores that occur, the one is the threshold that gives the best micro F1 on "
            "this very corpus (the lowest on ties); answers with at least this score count, and answers without.",
            "oracle-gerbil": "Oracle: no threshold, or that score which answers have to exceed for the best micro F1 "
            "on this very corpus (the lowest on ties); answers without score always count.",
            "oracle-bat": "Oracle: of 0, 1/128, … 1 the threshold that gives the best macro F1 on this very corpus "
            "(the lowest on ties); answers with at least this score count, and answers without.",
            "oracle-bat-paper": "Oracle: of 0, 1/128, … 1 the threshold that gives the best micro F1 on this very "
            "corpus (the lowest on ties); answers with at least this score count, and answers without.",
        },
        open="Only answers with a score of at least (or, after >, above) {} count, and answers without score.",
    ),
    "ids": _closed("Entity ids", Ids),
    "missing": _closed("Ids that the knowledge base does not know", Missing),
    "categories": _closed("Error categories", Categories),
    "unnamed": _closed("Entities without a known name", Unnamed),
    "near": _closed("Mentions near an answer", Near),
    "false-coreference": _closed("False coreference", FalseCoreference),
    "groups": _closed("Scores by label", Groups),
    "membership": Choice(
        "Membership of mentions",
        {
            "whole": "Every mention counts 1.",
            "questionnaire": "Recall weighs a mention by the share of authors who would annotate what shares most "
            "categories with it (the fine-grained paper's questionnaire): as much as its heaviest alternative, and it "
            "earns the weight of the one that was answered.",
        },
        open="Recall weighs mentions by the membership function {}: a mention weighs as much as its heaviest "
        "alternative and earns the weight of the one that was answered; under strict-code it weighs and earns as much "
        "as its lightest.",
    ),
}
"""Every convention, in the order of the signature."""

CIRCUMSTANCES: dict[str, Choice] = {
    "drop": Choice(
        "Answers dropped",
        {"none": "No answers were dropped before scoring."},
        open="Before scoring, these answers were dropped: {}.",
    ),
    "kb": Choice("Knowledge base", {"none": "No knowledge base was used."}, open="The knowledge base is {}."),
    "seed": Choice("Seed", {}, open="Random numbers start from seed {}; no score without interval uses any."),
}
"""What else a signature says: no conventions, but what was given."""

SIGNED: dict[str, Choice] = {**CHOICES, **CIRCUMSTANCES}
"""All that a signature has besides the version and the data."""


def sentence_of(name: str, value: str) -> str:
    """What a value of a choice means; an unknown value is an error."""
    choice = SIGNED[name]
    if value not in choice.values and not choice.open:
        raise UnknownNameError(f"value of {name}", value, choice.values)
    return choice.sentence(value)


class Conventions(msgspec.Struct, frozen=True):
    """A table of choices as values that the rest of Karat asks; `words` are the same as the signature writes them."""

    words: Mapping[str, str]
    task_name: str
    given: Given
    spans: Spans
    assignment: Assignment
    nil: Nil
    prefixes: tuple[str, ...] | None
    optional: Optional
    alternatives: Alternatives
    unlinked: Unlinked
    overlaps: Overlaps
    duplicates: Duplicates
    typing: Typing
    span: EvaluationSpan
    quantities: Quantities
    empty: EmptyRule
    macro: Macro
    threshold: Threshold | Sweep
    ids: Ids
    missing: Missing
    categories: Categories
    unnamed: Unnamed
    near: Near
    false_coreference: FalseCoreference
    groups: Groups
    membership: str

    @classmethod
    def of(cls, words: Mapping[str, str]) -> Conventions:
        """The values of all choices; unknown ones are errors, and so are those that contradict each other."""
        table = {name: task_named(words[name]) if name == "task" else words[name] for name in CHOICES}
        for name, word in table.items():
            sentence_of(name, word)
        found = cls(
            words=table,
            task_name=table["task"],
            given=Given(table["given"]),
            spans=Spans(table["spans"]),
            assignment=Assignment(table["assignment"]),
            nil=Nil(table["nil"]),
            prefixes=prefixes_of(table["prefixes"]),
            optional=Optional(table["optional"]),
            alternatives=Alternatives(table["alternatives"]),
            unlinked=Unlinked(table["unlinked"]),
            overlaps=Overlaps(table["overlaps"]),
            duplicates=Duplicates(table["duplicates"]),
            typing=Typing(table["typing"]),
            span=EvaluationSpan(table["span"]),
            quantities=Quantities(table["quantities"]),
            empty=EMPTY[table["empty"]],
            macro=Macro(table["macro"]),
            threshold=threshold_of(table["threshold"]),
            ids=Ids(table["ids"]),
            missing=Missing(table["missing"]),
            categories=Categories(table["categories"]),
            unnamed=Unnamed(table["unnamed"]),
            near=Near(table["near"]),
            false_coreference=FalseCoreference(table["false-coreference"]),
            groups=Groups(table["groups"]),
            membership=table["membership"],
        )
        for rule in CONTRADICTIONS:
            if rule.holds(found):
                raise UsageError(rule.says)
        return found

    @property
    def task(self) -> Task:
        """What the system was asked for."""
        return TASKS[self.task_name]


class Contradiction(NamedTuple):
    """Choices that cannot hold together, and what to do about it."""

    holds: Callable[[Conventions], bool]
    says: str


CONTRADICTIONS: tuple[Contradiction, ...] = (
    Contradiction(
        lambda c: c.nil is Nil.EMERGING and c.prefixes is None,
        "nil=emerging needs to know which ids are those of the knowledge base, and prefixes=none says that all are. "
        "Set prefixes=gerbil, or the prefixes themselves.",
    ),
    Contradiction(
        lambda c: c.prefixes is not None and c.nil is not Nil.EMERGING and c.typing is not Typing.SUBCLASSES,
        "prefixes tell emerging entities from others, which only nil=emerging (and typing=subclasses) makes use of. "
        "Set nil=emerging, or prefixes=none.",
    ),
    Contradiction(
        lambda c: c.assignment is Assignment.LOOKUP and c.membership != "whole",
        "membership weighs mentions, and assignment=lookup judges labels. Set assignment=optimal, or membership=whole.",
    ),
    Contradiction(
        lambda c: c.assignment is Assignment.LOOKUP and isinstance(c.threshold, Sweep),
        "assignment=lookup cannot try thresholds. Give a number, or choose another assignment.",
    ),
    Contradiction(
        lambda c: c.missing is Missing.ALIKE and not c.ids.by_kb,
        "missing=alike needs ids=resolved and a knowledge base that lists its entities. Give one, or set "
        "missing=distinct.",
    ),
)

GERBIL_PREFIXES = (
    "http://dbpedia.org/resource/",
    "http://dbpedia.org/ontology/",
    "http://ontologydesignpatterns.org/ont/dul/",
    "http://www.ontologydesignpatterns.org/ont/dul/",
    "http://ontologydesignpatterns.org/ont/wikipedia/d0.owl",
    "http://www.ontologydesignpatterns.org/ont/wikipedia/d0.owl",
    "http://www.wikidata.org/entity/",
    "http://d-nb.info/",
)

_NAMED_PREFIXES: dict[str, tuple[str, ...] | None] = {"none": None, "gerbil": GERBIL_PREFIXES}


def prefixes_of(text: str) -> tuple[str, ...] | None:
    """How the ids of the knowledge base begin, or None where all ids are its own."""
    return _NAMED_PREFIXES[text] if text in _NAMED_PREFIXES else tuple(re.split(r"[ ,]+", text))
