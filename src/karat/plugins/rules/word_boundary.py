"""Spans start and end at word boundaries."""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.labels import is_inside_word
from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels that start or end inside a word."""
    # There is no fix: part of a compound may be intended, and a shifted span would only grow.
    text = document.text
    for label in document.labels:
        start, end = label.span
        ends = [side for side, offset in (("starts", start), ("ends", end)) if is_inside_word(text, offset)]
        if ends:
            while is_inside_word(text, start):
                start -= 1
            while is_inside_word(text, end):
                end += 1
            proposal = f"Use {text[start:end].strip()!r}, unless the part is intended"
            yield Finding.from_label(document, label, f"{' and '.join(ends)} inside a word", proposal)


RULE = Rule(
    title="Word boundary",
    description="Spans neither start nor end inside a word, in scripts that separate words by spaces.",
    severity="warning",
    find=_find,
)
