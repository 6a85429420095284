"""A pro-form has an anaphoric reference."""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.labels import category_values
from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels with `form:ProForm` but without `reference:Anaphoric`, if references are tagged."""
    for label in document.labels:
        references = category_values(label, "reference")
        if (
            "ProForm" in category_values(label, "form")
            and "Anaphoric" not in references
            and (references or "reference" in context.dimensions)
        ):
            description = f"a pro-form whose reference is {' and '.join(references) or 'not given'}"
            yield Finding.from_label(document, label, description, "Use reference:Anaphoric, or another form")


RULE = Rule(
    title="Pro-form",
    description="A label with `form:ProForm` has `reference:Anaphoric`.",
    severity="warning",
    find=_find,
    is_gold_only=True,
)
