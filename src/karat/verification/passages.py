"""Texts cut into passages that can be judged in one look: at the ends of sentences, and near a length.

As in Ding, Botzer and Weninger: a sentence longer than the length is cut between words; sentences are put together
until they have the length; what is left at the end, if it is less than a third of it, belongs to the passage before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from karat.facts.sentence import sentence_starts
from karat.model.span import Span

LENGTH: Final = 300
"""How many characters a passage has at least, but for the last one."""


def passages(text: str, length: int = LENGTH) -> list[Span]:
    """The passages of a text, which together are the whole of it."""
    found: list[Span] = []
    start = 0
    for end in _cuts(text, length):
        if end - start >= length:
            found.append(Span(start, end))
            start = end
    if start < len(text):
        short = found and len(text) - start < length / 3
        found.append(Span(found.pop().start if short else start, len(text)))
    return found


def _cuts(text: str, length: int) -> Iterator[int]:
    """Where a text may be cut: before sentences, and in long ones before a word."""
    for start, end in pairwise([0, *sentence_starts(text), len(text)]):
        while end - start > length:
            words = [place for place in range(start + 1, start + length) if text[place].isspace()]
            start = words[-1] + 1 if words else start + length
            yield start
        yield end
