"""Duplicate document ids and duplicate labels of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from karat.model.defects import RENAMED_NOTE, make_unique_id
from karat.model.document import Label

DUPLICATE_MENTIONS = "duplicate mentions (dropped)"


def rename_duplicate_id(doc_id: str, taken: set[str], skipped: Counter[str]) -> str:
    """Return `doc_id`, with a number appended if it is in `taken`, and add the result to `taken`.

    A changed id, whose document is kept, is counted in `skipped`.
    """
    unique_id = make_unique_id(doc_id, taken)
    skipped[RENAMED_NOTE] += unique_id != doc_id
    return unique_id


def drop_duplicate_labels(labels: Iterable[Label], skipped: Counter[str]) -> tuple[Label, ...]:
    """Drop labels that repeat span, entity and `mention_id` of an earlier label; count dropped labels in `skipped`."""
    all_labels = list(labels)
    labels_by_key: dict[object, Label] = {}
    for label in all_labels:
        labels_by_key.setdefault((label.start, label.end, label.entity, label.mention_id), label)
    skipped[DUPLICATE_MENTIONS] += len(all_labels) - len(labels_by_key)
    return tuple(labels_by_key.values())
