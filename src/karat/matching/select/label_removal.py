"""Removal of gold labels from a document, by a condition, together with the parts of removed mentions.

Steps such as `drop-nil` use this. Predictions are dropped in `karat.evaluation.drop_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import msgspec

from karat.model.document import Document, Label


def mention_key(label: Label) -> Hashable:
    """Return a key that the alternatives of one mention share: the mention id, or else span and entity of the label."""
    return (label.start, label.end, label.entity) if label.mention_id is None else label.mention_id


def remove_labels(document: Document, is_removed: Callable[[Label], bool]) -> Document:
    """Return the document without the labels for which `is_removed` is true, and without parts of removed mentions.

    A part is a label whose `parent` is the mention id of another label.
    """
    labels = [label for label in document.labels if not is_removed(label)]
    while True:
        mention_ids = {label.mention_id for label in labels}
        rooted = [label for label in labels if label.parent is None or label.parent in mention_ids]
        if len(rooted) == len(labels):
            break
        labels = rooted
    return document if len(labels) == len(document.labels) else msgspec.structs.replace(document, labels=tuple(labels))
