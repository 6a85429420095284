"""What columns of tokens do not say: white space, as CoNLL-U writes it, and values that have tabs in them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from karat.errors import UsageError
from karat.model.document import Document, Label

_ESCAPES = {"\\": "\\\\", " ": "\\s", "\t": "\\t", "\n": "\\n", "\r": "\\r", "|": "\\p"}
_LETTERS = {written[1]: character for character, written in _ESCAPES.items()}
_PIECES = re.compile(r"\s+|\S+")


class SpacedPiece(NamedTuple):
    """A token, the mention it belongs to, and the white space behind it.

    White space at the edge of a mention or at the beginning of the text is a token too.
    """

    token: str
    label: Label | None
    gap: str


def pieces(document: Document, format: str) -> Iterator[SpacedPiece]:
    """What stands between white space, cut where a mention begins or ends; mentions that overlap are refused."""
    text, labels = document.text, sorted(document.labels, key=lambda label: label.start)
    for before, after in pairwise(labels):
        if after.start < before.end:
            raise UsageError(
                f"{format} cannot hold mentions that overlap: [{before.start}, {before.end}) and [{after.start}, "
                f"{after.end}) in document {document.id!r}. Apply the step longest first, or choose another format."
            )
    edges = {edge for label in labels for edge in (label.start, label.end)}
    cuts = sorted({0, len(text), *edges, *(match.start() for match in _PIECES.finditer(text))})
    starts = [label.start for label in labels]
    piece: SpacedPiece | None = None
    for start, end in pairwise(cuts):
        place = bisect_right(starts, start) - 1
        label = labels[place] if place >= 0 and start < labels[place].end else None
        edge = label is not None and (start == label.start or end == label.end)
        if piece is not None and text[start].isspace() and not edge:
            piece = piece._replace(gap=text[start:end])
            continue
        if piece is not None:
            yield piece
        piece = SpacedPiece(text[start:end], label, "")
    if piece is not None:
        yield piece


def notes(piece: SpacedPiece, usual: str) -> list[str]:
    """What a further column says about a token: white space that is not the usual, or that the token itself is."""
    found = [f"Blank={escaped(piece.token, blanks=True)}"] if piece.token.isspace() else []
    if piece.gap != usual:
        found.append(f"SpacesAfter={escaped(piece.gap, blanks=True)}" if piece.gap else "SpaceAfter=No")
    return found


class Noted(NamedTuple):
    """What the further column says: the token, white space behind it or None, and ids of the mention."""

    token: str
    gap: str | None = None
    same_as: tuple[str, ...] = ()


def noted(cell: str, token: str) -> Noted:
    """A token with what the further column says about it."""
    found = Noted(token)
    for name, _, value in (entry.partition("=") for entry in cell.split("|")):
        if name == "SpaceAfter" and value == "No":
            found = found._replace(gap="")
        elif name == "SpacesAfter":
            found = found._replace(gap=plain(value))
        elif name == "Blank":
            found = found._replace(token=plain(value))
        elif name == "SameAs":
            found = found._replace(same_as=(*found.same_as, plain(value)))
    return found


def escaped(text: str, *, blanks: bool = False) -> str:
    """A value without tabs, line ends and bars."""
    return "".join(_ESCAPES.get(character, character) if blanks or character != " " else " " for character in text)


def plain(escaped: str) -> str:
    """The value as it was before it was escaped."""
    return re.sub(r"\\(.)", lambda match: _LETTERS.get(match[1], match[1]), escaped)
