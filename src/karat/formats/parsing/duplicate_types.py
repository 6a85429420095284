"""Labels that repeat a span and entity with other types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from karat.model.document import Label

DUPLICATES = "duplicate annotations (merged)"
MERGED_TYPES = "duplicate annotations of another type (types merged)"


def merge_duplicate_labels(labels: Iterable[Label], skipped: Counter[str]) -> tuple[Label, ...]:
    """Merge labels of the same span, entity and `mention_id` into the first, with the types and categories of all.

    The labels that are merged into an earlier one are counted in `skipped`, separately if their types differ.
    """
    labels_by_key: dict[object, Label] = {}
    for label in labels:
        key = (label.start, label.end, label.entity, label.mention_id)
        first = labels_by_key.setdefault(key, label)
        if first is not label:
            types = tuple(dict.fromkeys((*first.types, *label.types)))
            categories = tuple(dict.fromkeys((*first.categories, *label.categories)))
            skipped[DUPLICATES if types == first.types else MERGED_TYPES] += 1
            labels_by_key[key] = msgspec.structs.replace(first, types=types, categories=categories)
    return tuple(labels_by_key.values())
