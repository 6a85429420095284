"""Tokens of a text with the white space around them, for files that store a token per line.

The notes on a token follow CoNLL-U: `SpaceAfter=No`, `SpacesAfter=\\s\\n`, and `Blank=\\s` for a token that is the
white space at the edge of a mention. `SameAs=` has further ids of its mention.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from karat.model.document import Document, Label
from karat.model.errors import UsageError

_ESCAPES = {"\\": "\\\\", " ": "\\s", "\t": "\\t", "\n": "\\n", "\r": "\\r", "|": "\\p"}
_CHARACTERS = {escape[1]: character for character, escape in _ESCAPES.items()}
_TOKEN = re.compile(r"\s+|\S+")


class SpacedToken(NamedTuple):
    """A token, its mention, and the white space after it.

    White space at the edge of a mention or at the beginning of the text is a token as well.
    """

    token: str
    """The token."""
    label: Label | None
    """Label of its mention, or None."""
    gap: str
    """White space after the token."""


def split_tokens(document: Document, format_name: str) -> Iterator[SpacedToken]:
    """Yield tokens between white space, split at the edges of mentions; raise `UsageError` if mentions overlap.

    `format_name` names the format in the error message.
    """
    text, labels = document.text, sorted(document.labels, key=lambda label: label.start)
    for first, second in pairwise(labels):
        if second.start < first.end:
            raise UsageError(
                f"{format_name} cannot store overlapping mentions: [{first.start}, {first.end}) and [{second.start}, "
                f"{second.end}) in document {document.id!r}. Apply the step longest first, or choose another format."
            )
    edges = {offset for label in labels for offset in (label.start, label.end)}
    cuts = sorted({0, len(text), *edges, *(match.start() for match in _TOKEN.finditer(text))})
    starts = [label.start for label in labels]
    token: SpacedToken | None = None
    for start, end in pairwise(cuts):
        index = bisect_right(starts, start) - 1
        label = labels[index] if index >= 0 and start < labels[index].end else None
        is_edge = label is not None and (start == label.start or end == label.end)
        if token is not None and text[start].isspace() and not is_edge:
            token = token._replace(gap=text[start:end])
            continue
        if token is not None:
            yield token
        token = SpacedToken(text[start:end], label, "")
    if token is not None:
        yield token


def format_notes(token: SpacedToken, default_gap: str) -> list[str]:
    """Return the notes on a token: white space after it that differs from `default_gap`, and white space as token."""
    entries = [f"Blank={escape_text(token.token, escapes_spaces=True)}"] if token.token.isspace() else []
    if token.gap != default_gap:
        entries.append(f"SpacesAfter={escape_text(token.gap, escapes_spaces=True)}" if token.gap else "SpaceAfter=No")
    return entries


class TokenNotes(NamedTuple):
    """A token with its notes: the white space after it, and further ids of its mention."""

    token: str
    """The token."""
    gap: str | None = None
    """White space after the token, or None for the default."""
    same_as: tuple[str, ...] = ()
    """Further ids of its mention."""


def parse_notes(cell: str, token: str) -> TokenNotes:
    """Parse the notes in a cell about a token; a note `Blank=` replaces the token, and unknown notes are ignored."""
    notes = TokenNotes(token)
    for name, _, value in (entry.partition("=") for entry in cell.split("|")):
        if name == "SpaceAfter" and value == "No":
            notes = notes._replace(gap="")
        elif name == "SpacesAfter":
            notes = notes._replace(gap=unescape_text(value))
        elif name == "Blank":
            notes = notes._replace(token=unescape_text(value))
        elif name == "SameAs":
            notes = notes._replace(same_as=(*notes.same_as, unescape_text(value)))
    return notes


def escape_text(text: str, *, escapes_spaces: bool = False) -> str:
    """Escape backslashes, tabs, line ends and bars in a text, and spaces if `escapes_spaces`."""
    return "".join(
        _ESCAPES.get(character, character) if escapes_spaces or character != " " else " " for character in text
    )


def unescape_text(text: str) -> str:
    """Replace the escapes of `escape_text` by their characters."""
    return re.sub(r"\\(.)", lambda match: _CHARACTERS.get(match[1], match[1]), text)
