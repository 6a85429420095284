"""Mentions from tags on tokens: IOB and IOBES."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

OUTSIDE = ("O", "_", "-", "")
"""What a token outside all mentions carries: which of them depends on the file."""


class MarkedTokens(NamedTuple):
    """A mention: its type and its tokens, the last one not included."""

    type: str
    first: int
    last: int


class Marks(NamedTuple):
    """The mentions of some tokens, how many begin without a B or S tag, and the first token with no tag at all."""

    mentions: list[MarkedTokens]
    unbegun: int
    wrong: int | None = None


def marks(tags: Sequence[str]) -> Marks:
    """The mentions that tags mark: one begins at B or S, ends at E or S, and does not outlast its type."""
    found: list[MarkedTokens] = []
    unbegun = 0
    open_at: int | None = None
    kind = ""
    for place, tag in enumerate([*tags, "O"]):
        prefix, _, now = ("", "", "") if tag in OUTSIDE else tag.partition("-")
        if tag not in OUTSIDE and (prefix not in ("B", "I", "E", "S") or not now):
            return Marks(found, unbegun, place)
        if open_at is not None and (prefix in ("", "B", "S") or now != kind):
            found.append(MarkedTokens(kind, open_at, place))
            open_at = None
        if prefix and open_at is None:
            unbegun += prefix in ("I", "E")
            open_at, kind = place, now
        if prefix in ("E", "S") and open_at is not None:
            found.append(MarkedTokens(kind, open_at, place + 1))
            open_at = None
    return Marks(found, unbegun)
