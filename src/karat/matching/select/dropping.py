"""Labels that are left out, and with them what is a part of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import msgspec

from karat.model.document import Document, Label


def mention_of(label: Label) -> Hashable:
    """What the alternatives of one mention have in common, within a document."""
    return (label.start, label.end, label.entity) if label.unit is None else label.unit


def without(document: Document, gone: Callable[[Label], bool]) -> Document:
    """The document without some labels, and without the other segmentations of mentions that are gone."""
    kept = [label for label in document.labels if not gone(label)]
    while True:
        units = {label.unit for label in kept}
        rooted = [label for label in kept if label.parent is None or label.parent in units]
        if len(rooted) == len(kept):
            break
        kept = rooted
    return document if len(kept) == len(document.labels) else msgspec.structs.replace(document, labels=tuple(kept))
