"""Removal of coreference labels."""

from karat.matching.select.label_removal import remove_labels
from karat.model.spec.step import Step

STEP = Step(
    title="Drop coreference",
    description="Removes labels of the kind coreference, such as pronouns.",
    apply=lambda document: remove_labels(document, lambda label: label.kind == "coreference"),
)
