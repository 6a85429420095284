"""Labels that repeat an earlier label."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from karat.model.document import Label


def separate_duplicate_labels(labels: Iterable[Label]) -> tuple[tuple[Label, ...], int]:
    """Give each label that repeats span, entity and `mention_id` of an earlier one a `mention_id` of its own.

    Return all labels and the number of duplicates. A corpus accepts two labels of the same span and entity only if they
    differ in `mention_id`.
    """
    seen: set[object] = set()
    unique_labels: list[Label] = []
    n_duplicates = 0
    for label in labels:
        key = (label.start, label.end, label.entity, label.mention_id)
        if key in seen:
            n_duplicates += 1
            label = msgspec.structs.replace(label, mention_id=f"repeated {n_duplicates}")
        seen.add(key)
        unique_labels.append(label)
    return tuple(unique_labels), n_duplicates
