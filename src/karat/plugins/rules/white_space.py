"""Spans neither start nor end with white space."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.matching.facts.labels import replace_labels
from karat.model.document import Document, Label
from karat.model.span import Span
from karat.model.spec.rule import Finding, LintContext, Rule


def _strip_span(document: Document, label: Label) -> Span:
    """Return the span of a label without surrounding white space; empty if it covers nothing else."""
    surface = document.text[label.start : label.end]
    start = label.start + len(surface) - len(surface.lstrip())
    return Span(start, start + len(surface.strip()))


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels that start or end with white space; spans out of range are left to another rule."""
    if not document.text.strip():
        return  # spaces replace a text that the source lacks
    for label in document.labels:
        start, end = _strip_span(document, label)
        if label.end > len(document.text) or label.start >= label.end:
            continue  # reported by the rule out-of-range
        if start == end:
            yield Finding.from_label(document, label, "only white space", "Delete the label")
        elif (start, end) != label.span:
            yield Finding.from_label(document, label, "surrounding white space", f"Use [{start}, {end})", fixable=True)


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document with white space removed from the ends of all spans."""
    return replace_labels(document, (_trim_label(document, label) for label in document.labels))


def _trim_label(document: Document, label: Label) -> Label:
    """Return the label with its span stripped; unchanged if only white space, or if it ends beyond the text."""
    start, end = _strip_span(document, label)
    if start >= end or label.end > len(document.text):
        return label
    return msgspec.structs.replace(label, start=start, end=end)


RULE = Rule(
    title="White space",
    description="Spans neither start nor end with white space.",
    severity="warning",
    find=_find,
    fix=_fix,
    fix_description="shortens the span",
)
