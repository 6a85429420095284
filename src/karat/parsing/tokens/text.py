"""Text from tokens, where a file has nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Laid(NamedTuple):
    """The text that tokens make, and where each of them stands in it."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def laid(tokens: Sequence[str], gaps: Sequence[str]) -> Laid:
    """The tokens, each with the white space that follows it."""
    starts, ends, place = [], [], 0
    for token, gap in zip(tokens, gaps, strict=True):
        starts.append(place)
        ends.append(place + len(token))
        place += len(token) + len(gap)
    text = "".join(piece for pair in zip(tokens, gaps, strict=True) for piece in pair)
    return Laid(text, tuple(starts), tuple(ends))


def laid_sentences(sentences: Sequence[Sequence[str]]) -> Laid:
    """Sentences of tokens: a blank between tokens, a line end between sentences."""
    tokens = [token for sentence in sentences for token in sentence]
    gaps = [gap for sentence in sentences if sentence for gap in [*[" "] * (len(sentence) - 1), "\n"]]
    return laid(tokens, [*gaps[:-1], ""] if gaps else [])
