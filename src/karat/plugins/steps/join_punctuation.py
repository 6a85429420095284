"""Punctuation joined to the token before it."""

from __future__ import annotations

import re

import msgspec

from karat.matching.select.label_removal import remove_labels
from karat.model.document import Document
from karat.model.spec.step import Step

_SPACE_BEFORE_PUNCTUATION = re.compile(r"\s+(?=[^\w\s])", re.ASCII)


def _join_punctuation(document: Document) -> Document:
    """Return the document without white space before punctuation, with a line end at its end and the spans moved.

    Labels of removed white space are removed.
    """
    text = document.text
    removed = [match.span() for match in _SPACE_BEFORE_PUNCTUATION.finditer(text)]

    def move(offset: int) -> int:
        """Return the offset in the new text."""
        return offset - sum(min(end, offset) - start for start, end in removed if start < offset)

    document = remove_labels(document, lambda label: label.start < label.end and move(label.start) == move(label.end))
    span = document.evaluation_span
    joined = _SPACE_BEFORE_PUNCTUATION.sub("", text)
    return msgspec.structs.replace(
        document,
        text=joined if joined.endswith("\n") else joined + "\n",
        labels=tuple(
            msgspec.structs.replace(label, start=move(label.start), end=move(label.end)) for label in document.labels
        ),
        evaluation_span=None if span is None else (move(span[0]), move(span[1])),
    )


STEP = Step(
    title="Join punctuation",
    description="Removes white space before each character that is no ASCII letter, digit or underscore, and ends the "
    "text with a line end, as BAT does for the tokens of AIDA. Spans move with the text.",
    apply=_join_punctuation,
)
