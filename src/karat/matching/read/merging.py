"""Annotations that lie inside others: merged into them, as GERBIL does for the second OKE task."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from karat.model.document import UNLINKED, Answer


def merged(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """The answers with every span merged into the longest one around it, ids and types united.

    Of several equally long ones around it the last takes it, and of equal spans the last takes the others.
    """
    given = list(answers)
    kept: dict[int, Answer] = {}
    for place in sorted(range(len(given)), key=lambda place: (given[place].start - given[place].end, -place)):
        inner = given[place]
        around = next((p for p, a in kept.items() if a.start <= inner.start and inner.end <= a.end), None)
        if around is None:
            kept[place] = inner
        else:
            kept[around] = _united(kept[around], inner)
    return tuple(kept[place] for place in sorted(kept))


def _united(outer: Answer, inner: Answer) -> Answer:
    ids = dict.fromkeys(
        entity for answer in (outer, inner) for entity in (answer.entity, *answer.same_as) if isinstance(entity, str)
    )
    entity: object = next(iter(ids), None)
    if not ids and outer.entity is UNLINKED:
        entity = inner.entity
    return msgspec.structs.replace(
        outer,
        entity=entity,
        same_as=tuple(ids)[1:],
        types=tuple(dict.fromkeys([*outer.types, *inner.types])),
    )
