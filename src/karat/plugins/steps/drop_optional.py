"""Removal of optional mentions."""

from __future__ import annotations

from karat.matching.select.label_removal import remove_labels
from karat.model.document import Document
from karat.model.spec.step import Step


def _drop_optional_mentions(document: Document) -> Document:
    """Return the document without optional mentions; a mention is optional if all its alternatives are."""
    required = {label.mention_id for label in document.labels if not label.optional and label.mention_id is not None}
    return remove_labels(document, lambda label: label.optional and label.mention_id not in required)


STEP = Step(
    title="Drop optional mentions",
    description="Removes optional mentions, which neither count when found nor when missed.",
    apply=_drop_optional_mentions,
)
