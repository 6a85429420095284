"""When types are right: by a class hierarchy, in the ways of GERBIL and of neleval."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from karat.kb.hierarchy import Hierarchy
from karat.model.items import Items, Lists, Pairs
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats, Ints
from karat.spec.choices.conventions import Typing
from karat.spec.relation import Relation

DECAY = 0.5
"""What one edge between the classes costs: neleval's default."""


def typed(
    relation: Relation, how: Typing, names: Arrow, hierarchy: Hierarchy, prefixes: tuple[str, ...] | None
) -> Relation:
    """The relation with the types compared as the choice `typing` says.

    `names` are what the codes of types stand for; `prefixes` say which of them are those of the knowledge base.
    """
    if how is Typing.SHARED:
        return relation
    ids = names.to_pylist()
    if how is Typing.SUBCLASSES:
        return replace(relation, degree=None, credit=_credit(ids, hierarchy, prefixes))
    return replace(relation, degree=_decaying(ids, hierarchy, upwards=how is Typing.ANCESTORS), graded=True)


def _decaying(ids: list[str], hierarchy: Hierarchy, *, upwards: bool) -> Callable[[Items, Items, Pairs], Floats]:
    @cache
    def worth(gold: int, answer: int) -> float:
        low, high = (gold, answer) if upwards else (answer, gold)
        edges = hierarchy.above(ids[low]).get(ids[high])
        return 0.0 if edges is None else DECAY**edges

    def degree(gold: Items, answers: Items, pairs: Pairs) -> Floats:
        left, right = _first(gold.types)[pairs.gold], _first(answers.types)[pairs.answer]
        values, place = np.unique(np.column_stack([left, right]), axis=0, return_inverse=True)
        known = np.array([worth(int(g), int(a)) for g, a in values], np.float64)
        return known[place.ravel()]

    return degree


def _first(types: Lists | None) -> Ints:
    """The first type of each item; items without any are left out before."""
    assert types is not None, "types are read where a relation compares them"
    return types.values[types.offsets[:-1]]


def _credit(
    ids: list[str], hierarchy: Hierarchy, prefixes: tuple[str, ...] | None
) -> Callable[[Items, Items, Pairs], Floats]:
    """Precision and recall of the types of each pair, both sides extended by all their sub-classes."""

    @cache
    def types(codes: tuple[int, ...]) -> frozenset[str]:
        return extended((ids[code] for code in codes), hierarchy, prefixes)

    def credit(gold: Items, answers: Items, pairs: Pairs) -> Floats:
        rows = zip(_codes(gold.types, pairs.gold), _codes(answers.types, pairs.answer), strict=True)
        found = [_precision_recall(compared(types(g), types(a))) for g, a in rows]
        return np.array(found, np.float64).reshape(-1, 2)

    return credit


def _codes(types: Lists | None, rows: Arrow) -> list[tuple[int, ...]]:
    assert types is not None, "types are read where a relation compares them"
    picked = types.take(rows)
    values = picked.values.tolist()
    return [tuple(values[low:high]) for low, high in pairwise(picked.offsets.tolist())]


class TypeCounts(NamedTuple):
    """Types that both have, that only the answer has, and that only the mention has."""

    tp: int
    fp: int
    fn: int


def extended(types: Iterable[str], hierarchy: Hierarchy, prefixes: tuple[str, ...] | None) -> frozenset[str]:
    """Types with all their sub-classes, of which those of the knowledge base stay."""
    below = {name for own in types for name in hierarchy.below(own)}
    return frozenset(name for name in below if prefixes is None or name.startswith(prefixes))


def compared(gold: frozenset[str], answer: frozenset[str]) -> TypeCounts:
    """How two extended sets of types compare; nothing on both sides is one right answer."""
    if not gold and not answer:
        return TypeCounts(1, 0, 0)
    return TypeCounts(len(gold & answer), len(answer - gold), len(gold - answer))


def _precision_recall(counts: TypeCounts) -> tuple[float, float]:
    if not counts.tp:
        return 0.0, 0.0
    return counts.tp / (counts.tp + counts.fp), counts.tp / (counts.tp + counts.fn)
