"""Spans run forward and end inside their text.

Readers refuse or mend other spans, so that the rule finds something only in Karat's own JSONL, which can be linted as
it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.facts.labels import relabelled
from karat.model.document import Document, Label
from karat.model.span import Span
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    length = len(document.text)
    for label in document.labels:
        if label.start >= label.end:
            yield Finding.at(document, label, "the span is empty or runs backward", "Delete the label", fixable=True)
        elif label.start >= length:
            says = f"the text has {length} code points"
            yield Finding.at(document, label, says, "Delete the label", fixable=True)
        elif label.end > length:
            says = f"the text has {length} code points"
            yield Finding.at(document, label, says, f"End at {length}", fixable=True)
    within = document.evaluation_span
    if within is not None and within != _inside(within, length):
        says = f"the evaluation span ends at {within[1]}, and the text has {length} code points"
        yield Finding(document.id, says, Span(*within), proposal="End it with the text, or drop it", fixable=True)


def _inside(span: tuple[int, int], length: int) -> tuple[int, int] | None:
    """What of a span lies inside a text, if anything does."""
    end = min(span[1], length)
    return (span[0], end) if span[0] < end else None


def _fix(document: Document, context: Context) -> Document:
    length = len(document.text)
    kept: list[Label] = []
    for label in document.labels:
        span = _inside(label.span, length)
        if span is not None:
            kept.append(msgspec.structs.replace(label, start=span[0], end=span[1]))
    if document.evaluation_span is not None:
        within = _inside(document.evaluation_span, length)
        document = msgspec.structs.replace(document, evaluation_span=within)
    return relabelled(document, kept)


RULE = Rule(
    title="Out of range",
    says="Spans, also the evaluation span, run forward and end inside their text.",
    severity="error",
    find=_find,
    fix=_fix,
)
