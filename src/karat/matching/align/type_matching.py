"""Comparison of types by a class hierarchy, as in GERBIL and neleval."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from karat.kb.hierarchy import Hierarchy
from karat.model.items import CodeLists, Items, Pairs
from karat.model.spec.relation import MatchRelation
from karat.model.spec.settings.conventions import Typing
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats, Ints

DECAY = 0.5
"""Factor for each edge between two classes, as in neleval."""


def compare_types(
    relation: MatchRelation, typing: Typing, type_names: Arrow, hierarchy: Hierarchy, prefixes: tuple[str, ...] | None
) -> MatchRelation:
    """Return the relation with types compared as the setting `typing` prescribes.

    `type_names` are the types by code. Only types with one of `prefixes` are compared by subclasses; None accepts all.
    """
    if typing is Typing.SHARED:
        return relation
    ids = type_names.to_pylist()
    if typing is Typing.SUBCLASSES:
        return replace(relation, degree=None, credit=_build_credit(ids, hierarchy, prefixes))
    return replace(
        relation, degree=_build_decaying_degree(ids, hierarchy, is_upwards=typing is Typing.ANCESTORS), is_graded=True
    )


def _build_decaying_degree(
    ids: list[str], hierarchy: Hierarchy, *, is_upwards: bool
) -> Callable[[Items, Items, Pairs], Floats]:
    """Return neleval's degree function: `DECAY` to the power of the number of edges between the first types of a pair.

    `ids` are the types by code. The predicted type must be an ancestor of the gold type if `is_upwards`, else a
    descendant; otherwise the degree is 0.
    """

    @cache
    def compute_degree(gold: int, prediction: int) -> float:
        low, high = (gold, prediction) if is_upwards else (prediction, gold)
        edges = hierarchy.find_ancestors(ids[low]).get(ids[high])
        return 0.0 if edges is None else DECAY**edges

    def degree(gold: Items, predictions: Items, pairs: Pairs) -> Floats:
        gold_types, predicted_types = (
            _first_types(gold.types)[pairs.gold],
            _first_types(predictions.types)[pairs.prediction],
        )
        pairs_of_types, index = np.unique(np.column_stack([gold_types, predicted_types]), axis=0, return_inverse=True)
        degrees = np.array([compute_degree(int(g), int(p)) for g, p in pairs_of_types], np.float64)
        return degrees[index.ravel()]

    return degree


def _first_types(types: CodeLists | None) -> Ints:
    """Return the code of the first type of each item; every item must have a type."""
    assert types is not None, "types are read if a relation compares them"
    return types.values[types.offsets[:-1]]


def _build_credit(
    ids: list[str], hierarchy: Hierarchy, prefixes: tuple[str, ...] | None
) -> Callable[[Items, Items, Pairs], Floats]:
    """Return GERBIL's credit function: precision and recall of the types of each pair, extended by all subclasses."""

    @cache
    def get_types(codes: tuple[int, ...]) -> frozenset[str]:
        return extend_types((ids[code] for code in codes), hierarchy, prefixes)

    def credit(gold: Items, predictions: Items, pairs: Pairs) -> Floats:
        rows = zip(_type_codes(gold.types, pairs.gold), _type_codes(predictions.types, pairs.prediction), strict=True)
        credits = [_precision_recall(count_types(get_types(g), get_types(p))) for g, p in rows]
        return np.array(credits, np.float64).reshape(-1, 2)

    return credit


def _type_codes(types: CodeLists | None, rows: Arrow) -> list[tuple[int, ...]]:
    """Return the type codes of each item in `rows`."""
    assert types is not None, "types are read if a relation compares them"
    lists = types.take(rows)
    values = lists.values.tolist()
    return [tuple(values[low:high]) for low, high in pairwise(lists.offsets.tolist())]


class TypeCounts(NamedTuple):
    """Numbers of types that both sides have, only the prediction has, and only the mention has."""

    tp: int
    fp: int
    fn: int


def extend_types(types: Iterable[str], hierarchy: Hierarchy, prefixes: tuple[str, ...] | None) -> frozenset[str]:
    """Return types with all their subclasses, restricted to those with one of `prefixes`; None accepts all."""
    subclasses = {name for type_ in types for name in hierarchy.find_descendants(type_)}
    return frozenset(name for name in subclasses if prefixes is None or name.startswith(prefixes))


def count_types(gold: frozenset[str], predicted: frozenset[str]) -> TypeCounts:
    """Count the types in both sets, only in `predicted` and only in `gold`; two empty sets count as one correct type.

    Both sets are results of `extend_types`.
    """
    if not gold and not predicted:
        return TypeCounts(1, 0, 0)
    return TypeCounts(len(gold & predicted), len(predicted - gold), len(gold - predicted))


def _precision_recall(counts: TypeCounts) -> tuple[float, float]:
    """Return precision and recall; 0 for both without a common type."""
    if not counts.tp:
        return 0.0, 0.0
    return counts.tp / (counts.tp + counts.fp), counts.tp / (counts.tp + counts.fn)
