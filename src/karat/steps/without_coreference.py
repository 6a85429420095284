"""Without coreference."""

from __future__ import annotations

from karat.matching.select.dropping import without
from karat.spec.step import Step

STEP = Step(
    title="Without coreference",
    says="Labels of the kind coreference, such as pronouns, are left out.",
    apply=lambda document: without(document, lambda label: label.kind == "coreference"),
)
