"""Systems as stages one after another: detection, candidates, ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, tee
from typing import Any

from msgspec.structs import replace

from karat.linking.lexicon import Lexicon
from karat.model.document import Answer, Document, Reply
from karat.spec.system import Link, Refine, asked


def joined(*stages: Refine) -> Link:
    """A system of some stages."""

    def link(documents: Iterable[Document]) -> Iterator[Reply]:
        given, seen = tee(documents)
        replies: Iterator[Reply] = (Reply(document.id) for document in given)
        for stage in stages:
            seen, also = tee(seen)
            replies = stage(zip(also, replies, strict=True))
        return replies

    return link


def each(refine: Callable[[Document, Reply], Reply]) -> Refine:
    """A stage that looks at one document at a time."""
    return lambda pairs: (refine(document, reply) for document, reply in pairs)


def given_spans(document: Document, reply: Reply) -> Reply:
    """The spans that are given, or those of the gold, as mentions."""
    spans = asked(document, given=True).labels
    return replace(reply, answers=tuple(Answer(label.start, label.end) for label in spans))


GIVEN: Refine = each(given_spans)
"""The stage that detects nothing by itself."""


def proposing(known: Lexicon, most: int) -> Refine:
    """The stage that gives each mention its likeliest entities."""

    def propose(document: Document, reply: Reply) -> Reply:
        text = document.text
        answers = [
            Answer(answer.start, answer.end, candidates=known.candidates(text[answer.start : answer.end], most))
            for answer in reply.answers
        ]
        return replace(reply, answers=tuple(answers))

    return each(propose)


def first_of_all(document: Document, reply: Reply) -> Reply:
    """Each mention linked to its first candidate; without one it stays a span without link."""
    answers = [
        Answer(a.start, a.end, a.candidates[0].entity, score=a.candidates[0].score, candidates=a.candidates)
        if a.candidates
        else a
        for a in reply.answers
    ]
    return replace(reply, answers=tuple(answers))


FIRST: Refine = each(first_of_all)
"""The stage that links each mention to its first candidate."""


def batches(pairs: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Some at a time, as they come."""
    rest = iter(pairs)
    while batch := list(islice(rest, size)):
        yield batch
