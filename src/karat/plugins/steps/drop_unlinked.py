"""Removal of unlinked labels."""

from karat.matching.select.label_removal import remove_labels
from karat.model.document import UNLINKED
from karat.model.spec.step import Step

STEP = Step(
    title="Drop unlinked labels",
    description="Removes labels without link; NIL labels remain.",
    apply=lambda document: remove_labels(document, lambda label: label.entity is UNLINKED),
)
