"""Conflicts among the ids of one annotation: ids that a knowledge base maps to another entity than the annotation's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from karat.kb.ids.id_patterns import id_pattern


def find_conflicts(written: Sequence[str], resolved: Sequence[str]) -> list[bool]:
    """Return whether each id of an annotation, its entity first, was mapped to another entity than the ids before it.

    `written` has the ids in normal form, and `resolved` the ids that a knowledge base resolves them to. Only an id that
    becomes one of another kind, such as a title that becomes a QID, can be in conflict: with the entity, with an id
    that is written in that kind, or else with an id that was mapped before.
    """
    is_mapped = [id_pattern(old) != id_pattern(new) for old, new in zip(written, resolved, strict=True)]
    ids_by_kind: defaultdict[str, set[str]] = defaultdict(set)
    for index, id in enumerate(resolved):
        if index == 0 or not is_mapped[index]:
            ids_by_kind[id_pattern(id)].add(id)
    conflicts: list[bool] = []
    for index, id in enumerate(resolved):
        ids = ids_by_kind[id_pattern(id)]
        conflicts.append(is_mapped[index] and bool(ids) and id not in ids)
        if not conflicts[-1]:
            ids.add(id)
    return conflicts
