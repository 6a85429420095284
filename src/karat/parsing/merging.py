"""Annotations of one span and entity that differ in their types only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from karat.model.document import Label

TWICE = "annotations given twice (one was kept)"
MERGED = "annotations of the same span and id with another type (merged)"


def merged(labels: Iterable[Label], skipped: Counter[str]) -> tuple[Label, ...]:
    """Each span, entity and unit once, with the types and categories of all labels that repeat it."""
    found: dict[object, Label] = {}
    for label in labels:
        key = (label.start, label.end, label.entity, label.unit)
        first = found.setdefault(key, label)
        if first is not label:
            types = tuple(dict.fromkeys((*first.types, *label.types)))
            categories = tuple(dict.fromkeys((*first.categories, *label.categories)))
            skipped[TWICE if types == first.types else MERGED] += 1
            found[key] = msgspec.structs.replace(first, types=types, categories=categories)
    return tuple(found.values())
