"""Texts joined from tokens, for files without texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class JoinedText(NamedTuple):
    """A text joined from tokens, with the offsets of the tokens."""

    text: str
    """The text."""
    starts: tuple[int, ...]
    """Start of each token."""
    ends: tuple[int, ...]
    """End of each token."""


def join_tokens(tokens: Sequence[str], gaps: Sequence[str]) -> JoinedText:
    """Join tokens, each followed by the white space (or empty string) at its index in `gaps`."""
    starts, ends, offset = [], [], 0
    for token, gap in zip(tokens, gaps, strict=True):
        starts.append(offset)
        ends.append(offset + len(token))
        offset += len(token) + len(gap)
    text = "".join(part for pair in zip(tokens, gaps, strict=True) for part in pair)
    return JoinedText(text, tuple(starts), tuple(ends))


def join_sentences(sentences: Sequence[Sequence[str]]) -> JoinedText:
    """Join sentences of tokens, with a space between tokens and a line end between sentences."""
    tokens = [token for sentence in sentences for token in sentence]
    gaps = [gap for sentence in sentences if sentence for gap in [*[" "] * (len(sentence) - 1), "\n"]]
    return join_tokens(tokens, [*gaps[:-1], ""] if gaps else [])
