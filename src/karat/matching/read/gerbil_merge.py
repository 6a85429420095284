"""Merging of nested annotations, as GERBIL does for the second OKE task."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from karat.model.document import UNLINKED, Prediction


def merge_nested(predictions: Iterable[Prediction]) -> tuple[Prediction, ...]:
    """Merge every prediction of a document into the longest one around it and unite their ids and types.

    Of several equally long outer predictions the last one is used, and of equal spans the last one takes in the others.
    """
    spans = list(predictions)
    outer_spans: dict[int, Prediction] = {}
    for index in sorted(range(len(spans)), key=lambda index: (spans[index].start - spans[index].end, -index)):
        inner = spans[index]
        outer = next(
            (i for i, span in outer_spans.items() if span.start <= inner.start and inner.end <= span.end), None
        )
        if outer is None:
            outer_spans[index] = inner
        else:
            outer_spans[outer] = _unite(outer_spans[outer], inner)
    return tuple(outer_spans[index] for index in sorted(outer_spans))


def _unite(outer: Prediction, inner: Prediction) -> Prediction:
    """Return `outer` with the ids and types of both predictions, the ids of `outer` first."""
    ids = dict.fromkeys(
        entity
        for prediction in (outer, inner)
        for entity in (prediction.entity, *prediction.same_as)
        if isinstance(entity, str)
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
