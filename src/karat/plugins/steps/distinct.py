"""Distinct mentions."""

from __future__ import annotations

from collections.abc import Hashable

from karat.matching.select.label_removal import mention_key, remove_labels
from karat.model.document import Document
from karat.model.spec.step import Step


def _drop_repeated_mentions(document: Document) -> Document:
    """Return the document with only the first of several mentions with the same spans and entities.

    Mentions with several segmentations are not changed.
    """
    families = {
        name for label in document.labels if label.parent is not None for name in (label.parent, label.mention_id)
    }
    contents: dict[Hashable, set[Hashable]] = {}
    for label in document.labels:
        if label.mention_id is None or label.mention_id not in families:
            contents.setdefault(mention_key(label), set()).add((label.start, label.end, label.entity))
    first: dict[frozenset[Hashable], Hashable] = {}
    for mention, content in contents.items():
        first.setdefault(frozenset(content), mention)
    repeated = contents.keys() - set(first.values())
    return remove_labels(document, lambda label: label.parent is None and mention_key(label) in repeated)


STEP = Step(
    title="Distinct mentions",
    description="Keeps only the first of several mentions with the same span and entity, as several annotators may "
    "give them.",
    apply=_drop_repeated_mentions,
)
