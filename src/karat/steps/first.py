"""First alternatives."""

from __future__ import annotations

from karat.matching.select.dropping import without
from karat.model.document import Document, Label
from karat.spec.step import Step


def _apply(document: Document) -> Document:
    first: dict[str | None, Label] = {}
    for label in document.labels:
        first.setdefault(label.unit, label)
    return without(document, lambda label: label.unit is not None and label is not first[label.unit])


STEP = Step(
    title="First alternatives",
    says="Of the alternatives of a mention only the first stays. BAT does so in GERDAQ.",
    apply=_apply,
)
