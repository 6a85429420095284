"""Labels that say again what an earlier one says."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from karat.model.document import Label


def apart(labels: Iterable[Label]) -> tuple[tuple[Label, ...], int]:
    """All labels, where each that repeats a span and entity is a mention of its own; and how many repeat one.

    A corpus takes the same label twice only where `unit` says that two mentions are meant.
    """
    seen: set[object] = set()
    found: list[Label] = []
    repeated = 0
    for label in labels:
        key = (label.start, label.end, label.entity, label.unit)
        if key in seen:
            repeated += 1
            label = msgspec.structs.replace(label, unit=f"repeated {repeated}")
        seen.add(key)
        found.append(label)
    return tuple(found), repeated
