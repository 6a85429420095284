"""A made-up rule."""

from __future__ import annotations

from collections.abc import Iterator

from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule, RuleExample


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report the labels of `document` that are question marks; `context` is ignored."""
    for label in document.labels:
        if document.text[label.start : label.end] == "?":
            yield Finding.from_label(document, label, "the label is a question mark", "Remove the label")


RULE = Rule(
    title="Question mark",
    description="A label is not a question mark.",
    severity="hint",
    find=_find,
    example=RuleExample(
        documents=(Document("d", "Who? Ada.", (Label(3, 4, "Q1"), Label(5, 8, "Q2"))),),
        findings=(("?", "question mark", False),),
    ),
)
