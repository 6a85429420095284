"""Every document has a text and annotations."""

from __future__ import annotations

from collections.abc import Iterator

from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Yield one finding if the document has no text, or neither labels, tags nor relations."""
    if not document.text.strip():
        yield Finding(document.id, "no text", proposal="Remove the document")
    elif not document.labels and not document.tags and not document.relations:
        yield Finding(document.id, "no labels", proposal="Check that the document contains no entities")


RULE = Rule(
    title="Empty document",
    description="Every document has a text, and labels, tags or relations.",
    severity="hint",
    find=_find,
    is_gold_only=True,
)
