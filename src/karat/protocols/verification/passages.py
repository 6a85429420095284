"""Splitting of texts into passages for judges, at sentence ends and near a minimum length.

As in Ding, Botzer and Weninger: a sentence longer than the length is cut between words. Sentences are joined until they
reach the length. A remainder of less than a third of the length is added to the passage before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from karat.matching.facts.sentence import sentence_starts
from karat.model.span import Span

MIN_LENGTH: Final = 300
"""Minimum number of characters of a passage, except for the last one."""


def split_passages(text: str, length: int = MIN_LENGTH) -> list[Span]:
    """Split a text into consecutive passages of at least `length` characters that together cover it.

    Only the last passage can be shorter; a remainder below a third of `length` joins the passage before. An empty text
    has no passages.
    """
    passages: list[Span] = []
    start = 0
    for end in _cut_offsets(text, length):
        if end - start >= length:
            passages.append(Span(start, end))
            start = end
    if start < len(text):
        is_short = passages and len(text) - start < length / 3
        passages.append(Span(passages.pop().start if is_short else start, len(text)))
    return passages


def _cut_offsets(text: str, length: int) -> Iterator[int]:
    """Yield the offsets at which a text may be cut: sentence ends, and word starts in sentences over `length`."""
    for start, end in pairwise([0, *sentence_starts(text), len(text)]):
        while end - start > length:
            spaces = [offset for offset in range(start + 1, start + length) if text[offset].isspace()]
            start = spaces[-1] + 1 if spaces else start + length
            yield start
        yield end
