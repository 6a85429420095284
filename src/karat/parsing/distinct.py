"""Documents and mentions that a file gives twice, where Karat holds each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from karat.model.defects import ID_TAKEN, free_id
from karat.model.document import Label

TWICE = "mentions given twice (one was kept)"


def distinct_id(name: str, taken: set[str], skipped: Counter[str]) -> str:
    """The id, or the id with a number behind it if it was taken, which is counted; from now on it is taken."""
    free = free_id(name, taken)
    skipped[ID_TAKEN] += free != name
    return free


def labels_once(labels: Iterable[Label], skipped: Counter[str]) -> tuple[Label, ...]:
    """The labels without those that give a span and entity again, which are counted."""
    given = list(labels)
    kept: dict[object, Label] = {}
    for label in given:
        kept.setdefault((label.start, label.end, label.entity, label.unit), label)
    skipped[TWICE] += len(given) - len(kept)
    return tuple(kept.values())
