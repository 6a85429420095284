"""Spans neither begin nor end with white space."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.facts.labels import relabelled
from karat.model.document import Document, Label
from karat.model.span import Span
from karat.spec.rule import Context, Finding, Rule


def _bare(document: Document, label: Label) -> Span:
    """The span without white space around it."""
    surface = document.text[label.start : label.end]
    start = label.start + len(surface) - len(surface.lstrip())
    return Span(start, start + len(surface.strip()))


def _find(document: Document, context: Context) -> Iterator[Finding]:
    if not document.text.strip():
        return  # blanks stand for a text that the source does not give
    for label in document.labels:
        start, end = _bare(document, label)
        if label.end > len(document.text) or label.start >= label.end:
            continue  # the rule out-of-range has said so
        if start == end:
            yield Finding.at(document, label, "nothing but white space", "Delete the label")
        elif (start, end) != label.span:
            yield Finding.at(document, label, "white space around it", f"Take [{start}, {end})", fixable=True)


def _fix(document: Document, context: Context) -> Document:
    return relabelled(document, (_trimmed(document, label) for label in document.labels))


def _trimmed(document: Document, label: Label) -> Label:
    start, end = _bare(document, label)
    if start >= end or label.end > len(document.text):
        return label
    return msgspec.structs.replace(label, start=start, end=end)


RULE = Rule(
    title="White space",
    says="Spans neither begin nor end with white space.",
    severity="warning",
    find=_find,
    fix=_fix,
)
