"""Mentions from IOB and IOBES tags of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

OUTSIDE = ("O", "_", "-", "")
"""Tags of tokens outside all mentions, in different files."""


class TokenMention(NamedTuple):
    """A mention of consecutive tokens, by token index."""

    type: str
    """Type of the mention."""
    start: int
    """First token."""
    end: int
    """Token behind the last."""


class IobMentions(NamedTuple):
    """The mentions in a sequence of tags, and its irregularities."""

    mentions: list[TokenMention]
    """Mentions in order."""
    n_without_begin: int
    """Number of mentions that begin without a B or S tag."""
    invalid_token: int | None = None
    """First token with an invalid tag, or None."""


def parse_tags(tags: Sequence[str]) -> IobMentions:
    """Find the mentions in IOB or IOBES tags; stop at the first invalid tag.

    A mention begins at B or S, ends after E or S, and ends where the type changes. A mention may also begin at I or E.
    """
    mentions: list[TokenMention] = []
    n_without_begin = 0
    start: int | None = None
    current_type = ""
    for index, tag in enumerate([*tags, "O"]):
        prefix, _, tag_type = ("", "", "") if tag in OUTSIDE else tag.partition("-")
        if tag not in OUTSIDE and (prefix not in ("B", "I", "E", "S") or not tag_type):
            return IobMentions(mentions, n_without_begin, index)
        if start is not None and (prefix in ("", "B", "S") or tag_type != current_type):
            mentions.append(TokenMention(current_type, start, index))
            start = None
        if prefix and start is None:
            n_without_begin += prefix in ("I", "E")
            start, current_type = index, tag_type
        if prefix in ("E", "S") and start is not None:
            mentions.append(TokenMention(current_type, start, index + 1))
            start = None
    return IobMentions(mentions, n_without_begin)
