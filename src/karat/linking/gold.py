"""What systems that see the gold standard answer: the bounds that others are held against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from karat.linking.stages import batches, each
from karat.model.document import Answer, Candidate, Document, EntityId, Reply
from karat.spec.system import Refine

Canonical: TypeAlias = Callable[[Sequence[str]], list[str]]
"""The ids by which those of the gold and of candidates are compared."""

_AT_ONCE = 64


class GoldLinks:
    """The right links of some documents, by document and span; ids are canonical."""

    def __init__(self, documents: Iterable[Document], canonical: Canonical) -> None:
        labels = [(document.id, label) for document in documents for label in document.labels if label.parent is None]
        written = list(dict.fromkeys(label.entity for _, label in labels if isinstance(label.entity, str)))
        moved = dict(zip(written, canonical(written), strict=True))
        self._links: dict[tuple[str, int, int], list[EntityId]] = {}
        for document, label in labels:
            entity = moved[label.entity] if isinstance(label.entity, str) else label.entity
            self._links.setdefault((document, label.start, label.end), []).append(entity)

    def at(self, document: Document, answer: Answer) -> list[EntityId]:
        """What is right at the place of an answer, nothing where the gold has no mention."""
        return self._links.get((document.id, answer.start, answer.end), [])


def _by_gold(change: Callable[[Answer, list[EntityId]], Answer | None], canonical: Canonical) -> Refine:
    """A stage that changes each answer by what is right there, or drops it."""

    def refine(pairs: Iterable[tuple[Document, Reply]]) -> Iterator[Reply]:
        for batch in batches(pairs, _AT_ONCE):
            gold = GoldLinks((document for document, _ in batch), canonical)
            for document, reply in batch:
                changed = (change(answer, gold.at(document, answer)) for answer in reply.answers)
                yield replace(reply, answers=tuple(answer for answer in changed if answer is not None))

    return refine


def _right(document: Document, reply: Reply) -> Reply:
    first = {(label.start, label.end): label for label in reversed(document.labels) if label.parent is None}
    answers = [
        replace(answer, entity=label.entity, same_as=label.same_as, score=1.0)
        for answer in reply.answers
        if (label := first.get((answer.start, answer.end))) is not None
    ]
    return replace(reply, answers=tuple(answers))


RIGHT: Refine = each(_right)
"""The stage that links each mention as the gold does, in its ids; what is no mention of the gold is dropped."""


def with_right(canonical: Canonical) -> Refine:
    """The stage that puts the right entities among the candidates, behind all others where they were not there."""
    return _by_gold(_with, canonical)


def right_of_candidates(canonical: Canonical) -> Refine:
    """The stage that links each mention to its right entity where that is a candidate, or to NIL where NIL is right.

    Otherwise it stays without link; what is no mention of the gold is dropped.
    """
    return _by_gold(_chosen, canonical)


def without_nil(canonical: Canonical) -> Refine:
    """The stage that decides NIL as the gold does, and changes no other link."""
    return _by_gold(lambda answer, right: replace(answer, entity=None) if None in right else answer, canonical)


def _with(answer: Answer, right: list[EntityId]) -> Answer:
    there = {candidate.entity for candidate in answer.candidates}
    missing = dict.fromkeys(entity for entity in right if isinstance(entity, str) and entity not in there)
    return replace(answer, candidates=(*answer.candidates, *map(Candidate, missing)))


def _chosen(answer: Answer, right: list[EntityId]) -> Answer | None:
    if not right:
        return None
    there = {candidate.entity for candidate in answer.candidates}
    found = next((entity for entity in right if entity is None or entity in there), "")
    if found == "":
        return Answer(answer.start, answer.end, candidates=answer.candidates)
    return replace(answer, entity=found, score=1.0)


def corrected(canonical: Canonical) -> Refine:
    """The stage that ranks as the gold does where the right entity is a candidate, and changes no other link."""
    return _by_gold(_corrected, canonical)


def _corrected(answer: Answer, right: list[EntityId]) -> Answer:
    there = {candidate.entity for candidate in answer.candidates}
    found = next((entity for entity in right if isinstance(entity, str) and entity in there), None)
    return answer if found is None else replace(answer, entity=found)
