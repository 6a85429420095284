"""Annotations that lie inside others: merged into them, as GERBIL does for the second OKE task."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from karat.model.document import UNLINKED, Answer


def merged(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """The answers with every span merged into the first longer one around it, ids and types united.

    The shortest go first, so that what was merged moves on outwards. Equal spans stay apart: neither is longer.
    """
    kept = list(answers)
    for inner in sorted(kept, key=_length):
        outer = next((place for place, other in enumerate(kept) if _inside(inner, other)), None)
        if outer is not None:
            place = next(place for place, other in enumerate(kept) if _same_span(inner, other))
            kept[outer] = _united(kept[outer], kept[place])
            del kept[place]
    return tuple(kept)


def _length(answer: Answer) -> int:
    return answer.end - answer.start


def _inside(inner: Answer, outer: Answer) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end and _length(inner) < _length(outer)


def _same_span(one: Answer, two: Answer) -> bool:
    return one.span == two.span


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
