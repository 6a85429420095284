"""Every document has something to find."""

from __future__ import annotations

from collections.abc import Iterator

from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    if not document.text.strip():
        yield Finding(document.id, "no text", proposal="Leave the document out")
    elif not document.labels and not document.tags and not document.relations:
        yield Finding(document.id, "no labels", proposal="Check that nothing is to be found there")


RULE = Rule(
    title="Empty document",
    says="Every document has a text, and labels, tags or relations.",
    severity="hint",
    find=_find,
    gold=True,
)
