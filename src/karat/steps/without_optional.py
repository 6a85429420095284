"""Without optional mentions."""

from __future__ import annotations

from karat.matching.select.dropping import without
from karat.model.document import Document
from karat.spec.step import Step


def _apply(document: Document) -> Document:
    """A mention is optional if all its alternatives are."""
    required = {label.unit for label in document.labels if not label.optional and label.unit is not None}
    return without(document, lambda label: label.optional and label.unit not in required)


STEP = Step(
    title="Without optional mentions",
    says="Mentions that earn nothing when found and cost nothing when missed are left out.",
    apply=_apply,
)
