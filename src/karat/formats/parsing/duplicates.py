"""Duplicate document ids, and duplicate labels, which a reader drops, merges or separates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from karat.model.defects import RENAMED_NOTE, UniqueIds
from karat.model.document import Label

DUPLICATE_MENTIONS = "duplicate mentions (dropped)"
DUPLICATES = "duplicate annotations (merged)"
MERGED_TYPES = "duplicate annotations of another type (types merged)"


def rename_duplicate_id(doc_id: str, taken: UniqueIds, skipped: Counter[str]) -> str:
    """Return `doc_id`, with a number appended if it is in `taken`, and add the result to `taken`.

    A changed id, whose document is kept, is counted in `skipped`.
    """
    unique_id = taken.reserve(doc_id)
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


def separate_duplicate_labels(labels: Iterable[Label], skipped: Counter[str]) -> tuple[Label, ...]:
    """Give each label that repeats span, entity and `mention_id` of an earlier one a `mention_id` of its own.

    Return all labels, and count the duplicates in `skipped`. A corpus accepts two labels of the same span and entity
    only if they differ in `mention_id`.
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
    skipped["duplicate labels (kept as separate mentions)"] += n_duplicates
    return tuple(unique_labels)
