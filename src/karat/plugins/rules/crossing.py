"""Crossing spans: two spans that overlap although neither contains the other."""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.labels import family_roots, find_overlapping_spans, group_by_span
from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Yield one finding for each pair of spans that overlap without one containing the other.

    Segmentations of one mention may cross.
    """
    roots = family_roots(document)
    labels_by_span = group_by_span(document)
    for span, other in find_overlapping_spans(labels_by_span, document.id):
        if not span.start < other.start < span.end < other.end:
            continue
        if len({roots[number] for number in (*labels_by_span[span], *labels_by_span[other])}) == 1:
            continue  # alternative segmentations of one mention may cross
        label = document.labels[labels_by_span[span][0]]
        other_text = f"{document.text[other.start : other.end]!r} [{other.start}, {other.end})"
        yield Finding.from_label(
            document, label, f"crosses {other_text}", "Shorten one span, or make both segmentations of one mention"
        )


RULE = Rule(
    title="Crossing spans",
    description="No two spans overlap unless one contains the other or both are segmentations of one mention.",
    severity="warning",
    find=_find,
)
