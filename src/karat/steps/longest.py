"""The longest of overlapping mentions."""

from __future__ import annotations

from collections.abc import Hashable

from karat.matching.select.dropping import mention_of, without
from karat.model.document import Document, Label
from karat.spec.step import Step


def _apply(document: Document) -> Document:
    """Each mention, from left to right, is compared with the one kept last; of two equally long ones the first stays.

    A mention is as long as the longest of its alternatives; other segmentations go or stay with it.
    """
    mentions: dict[Hashable, Label] = {}
    for label in document.labels:
        if label.parent is None:
            known = mentions.setdefault(mention_of(label), label)
            if _length(label) > _length(known):
                mentions[mention_of(label)] = label
    kept: list[Label] = []
    for label in sorted(mentions.values(), key=lambda label: label.start):
        if not kept or label.start >= kept[-1].end:
            kept.append(label)
        elif _length(label) > _length(kept[-1]):
            kept[-1] = label
    stay = set(map(mention_of, kept))
    return without(document, lambda label: label.parent is None and mention_of(label) not in stay)


def _length(label: Label) -> int:
    return label.end - label.start


STEP = Step(
    title="The longest of overlapping mentions",
    says="Of mentions that overlap the longest stays, as BAT has it when it reads ACE2004, AQUAINT, MSNBC and AIDA.",
    apply=_apply,
)
