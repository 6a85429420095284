"""The specification of an error category: the constant `CATEGORY` of a file in `karat.plugins.categories`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from karat.model.document import Candidate, Document, Label, Prediction, Response
from karat.model.results.cases import CaseArrays
from karat.model.tables.columns import Bools
from karat.model.truth import Truth

Condition: TypeAlias = Callable[[CaseArrays], Truth | Bools]
"""A function that returns for each case of a view whether a condition is true, false or undecided."""

_MARK_PATTERN = re.compile(r"\[([^\]]+?) → ([^\]]+)\]")


class Mark(NamedTuple):
    """A mention marked in the text of an example."""

    start: int
    """The offset of the first character."""
    end: int
    """The offset after the last character."""
    entity: str | None
    """The linked entity; None for NIL."""
    other_candidates: tuple[str, ...]
    """The candidates that the system rejected."""


def parse_marks(text: str) -> tuple[str, tuple[Mark, ...]]:
    """Return the plain text and the mentions that brackets mark in `text`, in order.

    `[Rome → Italy]` marks a linked mention, `[Rome → NIL]` one without entity, and `[Rome → Rome, not Italy, Lazio]`
    adds the candidates that the system rejected. Offsets refer to the plain text.
    """
    plain, marks, end = "", [], 0
    for match in _MARK_PATTERN.finditer(text):
        plain += text[end : match.start()]
        link, _, others = match[2].partition(", not ")
        entity = None if link == "NIL" else link
        marks.append(Mark(len(plain), len(plain) + len(match[1]), entity, tuple(others.split(", ")) if others else ()))
        plain += match[1]
        end = match.end()
    return plain + text[end:], tuple(marks)


class Example(msgspec.Struct, frozen=True):
    """A text in which an error category occurs, with the expected counts. Entities are called by their names."""

    gold: str
    """The text with the gold mentions marked; see `parse_marks`."""
    predictions: str
    """The same text with the predictions marked."""
    errors: int
    """The expected number of errors."""
    total: int | None
    """The expected number of cases that could be errors; None if the category has no total."""
    types: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The type of each entity."""
    popular: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The most popular entity of each surface."""
    demonyms: tuple[str, ...] = ()
    """Surfaces that are demonyms."""
    links: tuple[str, ...] = ()
    """Surfaces that are hyperlinks in the source text."""
    profile: str = "karat"
    """The profile under which the counts hold."""

    @property
    def document(self) -> Document:
        """The document with its gold labels, and the hyperlinks of its source in `meta`."""
        text, marks = parse_marks(self.gold)
        links = [[[text.index(link), text.index(link) + len(link)], link] for link in self.links]
        labels = tuple(Label(mark.start, mark.end, mark.entity) for mark in marks)
        return Document("example", text, labels, meta={"hyperlinks": json.dumps(links)} if links else {})

    @property
    def response(self) -> Response:
        """The response of the example's system, with its predictions and their candidates."""
        return Response("example", tuple(map(_to_prediction, parse_marks(self.predictions)[1])))

    @property
    def facts(self) -> dict[str, Any]:
        """Names, types, popular entities and demonyms, as keyword arguments for an in-memory knowledge base.

        The name of an entity is its id.
        """
        marks = [mark for text in (self.gold, self.predictions) for mark in parse_marks(text)[1]]
        return {
            "names": {mark.entity: mark.entity for mark in marks if mark.entity is not None},
            "types": _to_tuples(self.types.items()),
            "popular": _to_tuples(self.popular.items()),
            "demonyms": self.demonyms,
        }


def _to_prediction(mark: Mark) -> Prediction:
    """Return the prediction that a mark describes; its candidates are empty if the mark rejects none."""
    candidates = (mark.entity, *mark.other_candidates) if mark.other_candidates else ()
    return Prediction(mark.start, mark.end, mark.entity, candidates=tuple(Candidate(id) for id in candidates if id))


def _to_tuples(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return a mapping of each key to a tuple of its single value."""
    return {key: (value,) for key, value in pairs}


class ErrorCategory(msgspec.Struct, frozen=True):
    """A kind of error: the cases that are such errors, and the cases that could have been."""

    # Description
    title: str
    """The name in tables."""
    description: str
    """One sentence on which errors belong to the category."""
    group: str
    """The group of related categories."""

    # Counting
    is_error: Condition
    """Return which cases of a view are errors of this category."""
    is_avoided: Condition | None = None
    """Return which cases could have been such errors but are not; errors plus avoided cases are the total.

    Errors in the mask are ignored.
    """
    candidate_words: Literal["all", "lowercased", "other"] | None = None
    """The words of the text that form the total instead of `is_avoided`; with neither there is no total."""
    total_description: str = ""
    """A phrase for the total."""

    # Assignment
    rank: int | None = None
    """The priority in its `group`: a case belongs to the first ranked category that applies."""
    exclusive_among: Literal["errors", "both"] = "errors"
    """Where `rank` applies: to errors only, or also to avoided cases."""
    prediction_condition: Condition | None = None
    """A further condition on errors, used under the setting `categories=prediction`."""

    # Requirements
    needs_candidates: bool = False
    """Whether the category is undefined for systems that never return several candidates."""
    required_facts: tuple[str, ...] = ()
    """The facts without which a case is undecided."""
    needs_detection: bool = False
    """Whether the category concerns predictions on no mention, and is undefined for given mentions."""
    has_segmented_mentions: bool = False
    """Whether the total includes mentions that are scored by their parts."""

    example: Example | None = None
    """A text in which the category occurs, for the documentation and the tests."""
