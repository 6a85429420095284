"""Distinct mentions."""

from __future__ import annotations

from collections.abc import Hashable

from karat.matching.select.dropping import mention_of, without
from karat.model.document import Document
from karat.spec.step import Step


def _apply(document: Document) -> Document:
    """Mentions with other segmentations stay, and so do these: they mean more than their span and entity."""
    families = {name for label in document.labels if label.parent is not None for name in (label.parent, label.unit)}
    says: dict[Hashable, set[Hashable]] = {}
    for label in document.labels:
        if label.unit is None or label.unit not in families:
            says.setdefault(mention_of(label), set()).add((label.start, label.end, label.entity))
    first: dict[frozenset[Hashable], Hashable] = {}
    for mention, content in says.items():
        first.setdefault(frozenset(content), mention)
    gone = says.keys() - set(first.values())
    return without(document, lambda label: label.parent is None and mention_of(label) in gone)


STEP = Step(
    title="Distinct mentions",
    says="Of mentions with the same span and entity, as several annotators give them, only the first stays.",
    apply=_apply,
)
