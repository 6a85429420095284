"""Longest of overlapping mentions."""

from __future__ import annotations

from collections.abc import Hashable

from karat.matching.select.label_removal import mention_key, remove_labels
from karat.model.document import Document, Label
from karat.model.spec.step import Step


def _keep_longest_mentions(document: Document) -> Document:
    """Return the document with only the longest of overlapping mentions.

    Each mention, from left to right, is compared with the last mention that remains; of two equally long mentions the
    first remains. A mention is as long as its longest alternative; its other segmentations follow it.
    """
    mentions: dict[Hashable, Label] = {}
    for label in document.labels:
        if label.parent is None:
            longest = mentions.setdefault(mention_key(label), label)
            if _get_length(label) > _get_length(longest):
                mentions[mention_key(label)] = label
    remaining: list[Label] = []
    for label in sorted(mentions.values(), key=lambda label: label.start):
        if not remaining or label.start >= remaining[-1].end:
            remaining.append(label)
        elif _get_length(label) > _get_length(remaining[-1]):
            remaining[-1] = label
    keys = set(map(mention_key, remaining))
    return remove_labels(document, lambda label: label.parent is None and mention_key(label) not in keys)


def _get_length(label: Label) -> int:
    """Return the length of a label's span in code points."""
    return label.end - label.start


STEP = Step(
    title="Longest mentions",
    description="Keeps the longest of overlapping mentions, as BAT does when it reads ACE2004, AQUAINT, MSNBC and "
    "AIDA.",
    apply=_keep_longest_mentions,
)
