"""Drop NIL."""

from __future__ import annotations

from karat.matching.select.dropping import without
from karat.spec.step import Step

STEP = Step(
    title="Drop NIL",
    says="Labels that are NIL are left out. BAT and most published counts of linked mentions do so.",
    apply=lambda document: without(document, lambda label: label.entity is None),
)
