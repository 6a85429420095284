"""Punctuation joined to the token before it."""

from __future__ import annotations

import re

import msgspec

from karat.matching.select.label_removal import remove_labels
from karat.model.document import Document, Label
from karat.model.spec.step import Step

_SPACE_BEFORE_PUNCTUATION = re.compile(r"\s+(?=[^\w\s])", re.ASCII)


def _join_punctuation(document: Document) -> Document:
    """Return the document without white space before punctuation, with a line end at its end and the spans moved.

    Labels of removed white space are removed, and so are labels that become equal to an earlier label. White space that
    holds the whole evaluation span stays, since a document cannot have an empty evaluation span.
    """
    text, span = document.text, document.evaluation_span

    def is_removed(match: re.Match[str]) -> bool:
        """Return whether white space before punctuation is removed."""
        return span is None or not match.start() <= span[0] < span[1] <= match.end()

    removed = [match.span() for match in _SPACE_BEFORE_PUNCTUATION.finditer(text) if is_removed(match)]

    def move(offset: int) -> int:
        """Return the offset in the new text."""
        return offset - sum(min(end, offset) - start for start, end in removed if start < offset)

    seen = set()

    def is_needless(label: Label) -> bool:
        """Return whether a label is of removed white space, or differs from an earlier label by white space only."""
        start, end = move(label.start), move(label.end)
        key = start, end, label.entity, label.mention_id
        is_repeated = key in seen
        seen.add(key)
        return is_repeated or (label.start < label.end and start == end)

    document = remove_labels(document, is_needless)
    joined = _SPACE_BEFORE_PUNCTUATION.sub(lambda match: "" if is_removed(match) else match[0], text)
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
