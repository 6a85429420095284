"""A made-up step."""

from __future__ import annotations

from karat.matching.select.label_removal import remove_labels
from karat.model.spec.step import Step

STEP = Step(
    title="Drop one-character labels",
    description="Removes labels of one character, for a test.",
    apply=lambda document: remove_labels(document, lambda label: label.end - label.start == 1),
)
