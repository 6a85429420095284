"""Documents and mentions that a file gives twice, where Karat holds each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from karat.model.document import Label

ID_TAKEN = "documents whose id was taken (a number was added to it)"
TWICE = "mentions given twice (one was kept)"


def distinct_id(name: str, taken: set[str], skipped: Counter[str]) -> str:
    """The id, or the id with a number behind it if it was taken, which is counted; from now on it is taken."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    skipped[ID_TAKEN] += free != name
    taken.add(free)
    return free


def labels_once(labels: Iterable[Label], skipped: Counter[str]) -> tuple[Label, ...]:
    """The labels without those that give a span and entity again, which are counted."""
    kept: dict[object, Label] = {}
    for label in labels:
        key = (label.start, label.end, label.entity, label.unit)
        skipped[TWICE] += key in kept
        kept.setdefault(key, label)
    return tuple(kept.values())
