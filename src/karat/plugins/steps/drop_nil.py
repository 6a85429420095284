"""Drop NIL."""

from karat.matching.select.label_removal import remove_labels
from karat.model.spec.settings.conventions import NilIds
from karat.model.spec.step import Step

STEP = Step(
    title="Drop NIL",
    description="Removes labels that are linked to NIL, as in BAT and most published counts of linked mentions.",
    apply=lambda document: remove_labels(document, lambda label: NilIds.NOT_IN_WIKI.is_nil(label.entity)),
)
