"""Quantities and datetimes are optional, as in the fair-evaluation paper (Bast, Hertel and Prange 2023, section 5)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.matching.facts.labels import replace_labels
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule, RuleExample

_KINDS = ("quantity", "datetime")


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report quantities and datetimes that are required."""
    for label in document.labels:
        if label.kind in _KINDS and not label.optional:
            yield Finding.from_label(document, label, f"a required {label.kind}", "Mark it as optional", fixable=True)


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document with all quantities and datetimes optional."""
    return replace_labels(
        document,
        (msgspec.structs.replace(label, optional=True) if label.kind in _KINDS else label for label in document.labels),
    )


RULE = Rule(
    title="Required value",
    description="Quantities and datetimes are optional.",
    severity="warning",
    find=_find,
    fix=_fix,
    fix_description="makes the label optional",
    is_gold_only=True,
    example=RuleExample(
        documents=(
            Document(
                "d",
                "It won 5 times in 1998.",
                (
                    Label(7, 8, "QUANTITY", kind="quantity"),
                    Label(18, 22, "DATETIME", kind="datetime", optional=True),
                ),
            ),
        ),
        findings=(("5", "a required quantity", True),),
    ),
)
