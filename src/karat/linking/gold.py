"""What systems that see the gold standard answer: the bounds that others are held against."""

from __future__ import annotations

from msgspec.structs import replace

from karat.model.document import Answer, Candidate, Document, EntityId, Reply

_Gold = dict[tuple[int, int], list[EntityId]]


def links_at(document: Document) -> _Gold:
    """The right links of each span, the one that stands for its mention first; alternatives of a mention are right."""
    found: _Gold = {}
    for label in document.labels:
        if label.parent is None:
            found.setdefault((label.start, label.end), []).append(label.entity)
    return found


def right(document: Document, reply: Reply) -> Reply:
    """Each mention with its right link; one that is no mention of the gold stays as it is."""
    links = links_at(document)
    answers = [
        replace(answer, entity=links[answer.start, answer.end][0], score=1.0)
        if (answer.start, answer.end) in links
        else answer
        for answer in reply.answers
    ]
    return replace(reply, answers=tuple(answers))


def with_right(document: Document, reply: Reply) -> Reply:
    """Each mention with its right entities among the candidates, behind all others where they were not there."""
    links = links_at(document)
    return replace(
        reply, answers=tuple(_with(answer, links.get((answer.start, answer.end), [])) for answer in reply.answers)
    )


def _with(answer: Answer, right: list[EntityId]) -> Answer:
    there = {candidate.entity for candidate in answer.candidates}
    missing = tuple(Candidate(entity) for entity in right if isinstance(entity, str) and entity not in there)
    return replace(answer, candidates=answer.candidates + missing)


def right_of_candidates(document: Document, reply: Reply) -> Reply:
    """Each mention linked to its right entity where that is a candidate, to NIL where NIL is right, and else unlinked.

    A span that is no mention of the gold is dropped.
    """
    links = links_at(document)
    answers = [
        _chosen(answer, links[answer.start, answer.end])
        for answer in reply.answers
        if (answer.start, answer.end) in links
    ]
    return replace(reply, answers=tuple(answers))


def _chosen(answer: Answer, right: list[EntityId]) -> Answer:
    there = {candidate.entity for candidate in answer.candidates}
    found = next((entity for entity in right if entity is None or entity in there), None)
    if found is None and None not in right:
        return Answer(answer.start, answer.end, candidates=answer.candidates)
    return replace(answer, entity=found, score=1.0)
