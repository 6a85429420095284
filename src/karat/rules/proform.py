"""A pro-form refers back."""

from __future__ import annotations

from collections.abc import Iterator

from karat.facts.labels import tags
from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    for label in document.labels:
        said = tags(label, "reference")
        if "ProForm" in tags(label, "form") and "Anaphoric" not in said and (said or "reference" in context.dimensions):
            says = f"a pro-form whose reference is {' and '.join(said) or 'not given'}"
            yield Finding.at(document, label, says, "Take reference:Anaphoric, or another form")


RULE = Rule(
    title="Pro-form",
    says="A label with `form:ProForm` has `reference:Anaphoric`.",
    severity="warning",
    find=_find,
    gold=True,
)
