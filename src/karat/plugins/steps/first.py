"""First alternatives."""

from __future__ import annotations

from karat.matching.select.label_removal import remove_labels
from karat.model.document import Document, Label
from karat.model.spec.step import Step


def _keep_first_alternatives(document: Document) -> Document:
    """Return the document with only the first label of each `mention_id`; labels without id stay."""
    first: dict[str | None, Label] = {}
    for label in document.labels:
        first.setdefault(label.mention_id, label)
    return remove_labels(document, lambda label: label.mention_id is not None and label is not first[label.mention_id])


STEP = Step(
    title="First alternatives",
    description="Keeps only the first alternative of each mention, as BAT does for GERDAQ.",
    apply=_keep_first_alternatives,
)
