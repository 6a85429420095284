"""Spans are not empty and end inside their text.

Readers reject or repair other spans, so the rule only applies to Karat JSONL, which can be linted unchecked.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.matching.facts.labels import replace_labels
from karat.model.document import Document, Label
from karat.model.span import Span
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels with an empty or reversed span or one beyond the text, and such an evaluation span."""
    length = len(document.text)
    for label in document.labels:
        if label.start >= label.end:
            yield Finding.from_label(document, label, "the span is empty or reversed", "Delete the label", fixable=True)
        elif label.start >= length:
            description = f"the text has {length} code points"
            yield Finding.from_label(document, label, description, "Delete the label", fixable=True)
        elif label.end > length:
            description = f"the text has {length} code points"
            yield Finding.from_label(document, label, description, f"End at {length}", fixable=True)
    evaluation_span = document.evaluation_span
    if evaluation_span is not None and evaluation_span != _clip_span(evaluation_span, length):
        description = f"the evaluation span ends at {evaluation_span[1]}, but the text has {length} code points"
        yield Finding(
            document.id, description, Span(*evaluation_span), proposal="Clip it to the text, or remove it", fixable=True
        )


def _clip_span(span: tuple[int, int], length: int) -> tuple[int, int] | None:
    """Return the part of a span that is inside a text of `length` code points; None if nothing is."""
    end = min(span[1], length)
    return (span[0], end) if span[0] < end else None


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document with all spans clipped to the text, without the labels that would be empty."""
    length = len(document.text)
    remaining: list[Label] = []
    for label in document.labels:
        span = _clip_span(label.span, length)
        if span is not None:
            remaining.append(msgspec.structs.replace(label, start=span[0], end=span[1]))
    if document.evaluation_span is not None:
        evaluation_span = _clip_span(document.evaluation_span, length)
        document = msgspec.structs.replace(document, evaluation_span=evaluation_span)
    return replace_labels(document, remaining)


RULE = Rule(
    title="Out of range",
    description="Spans, including the evaluation span, are not empty and end inside their text.",
    severity="error",
    find=_find,
    fix=_fix,
    fix_description="ends the span with the text, or deletes the label",
)
