"""Drop spans without link."""

from __future__ import annotations

from karat.matching.select.dropping import without
from karat.model.document import UNLINKED
from karat.spec.step import Step

STEP = Step(
    title="Drop spans without link",
    says="Labels that are marked but not linked are left out; NIL stays.",
    apply=lambda document: without(document, lambda label: label.entity is UNLINKED),
)
