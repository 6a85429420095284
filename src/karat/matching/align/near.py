"""What a wrong entity is to the right one, and links that earn a part of a point because they are near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from karat.errors import UsageError
from karat.kb.any_spelling import AnySpelling
from karat.kb.hierarchy import ROLES
from karat.kb.protocol import KB
from karat.matching.align.joins import same_entity
from karat.model.items import Items, Pairs
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats
from karat.spec.relation import Nearness, Relation


class KnownEntities:
    """What a knowledge base says of some entities."""

    def __init__(self, kb: KB, ids: Sequence[str]) -> None:
        self._hierarchy = kb.hierarchy
        self._types = dict(zip(ids, kb.types(ids), strict=True))
        self._names = {
            id: ({name} if name else set()) | (aliases or set())
            for id, name, aliases in zip(ids, kb.names(ids), kb.aliases(ids), strict=True)
        }

    def nearness(self, gold: str, answer: str) -> Nearness:
        """What an answer is to the gold."""
        one, other = self._above(gold), self._above(answer)
        if answer in one:
            return Nearness.PARENT
        if gold in other:
            return Nearness.CHILD
        if self._names[gold] & self._names[answer]:
            places = [not ROLES["place"].isdisjoint(each) for each in (one, other)]
            metonym = one and other and places[0] != places[1]
            return Nearness.METONYM if metonym else Nearness.SAME_NAME
        if self._direct(gold) & self._direct(answer):
            return Nearness.SIBLING
        told = all(self._names[id] or self._direct(id) for id in (gold, answer))
        return Nearness.FAR if told else Nearness.UNDECIDED

    def _direct(self, id: str) -> set[str]:
        return {*(self._types[id] or ()), *self._hierarchy.superclasses.get(id, ())}

    def _above(self, id: str) -> set[str]:
        return {above for direct in self._direct(id) for above in self._hierarchy.above(direct)}


def credited(relation: Relation, names: Arrow, kb: KB | None) -> Relation:
    """The relation with its partial credit for near misses; `names` are what codes of entities stand for.

    What the knowledge base cannot decide earns nothing.
    """
    assert relation.near is not None
    if relation.degree is not same_entity:
        raise UsageError(f"{relation.title.lower()} gives no credit for near misses. Give it to strong or weak.")
    if kb is None:
        raise UsageError(
            "partial credit needs to know what is near, and there is no knowledge base. Give one with --kb, which "
            "knows names, types or classes."
        )
    ids = names.to_pylist()
    if isinstance(kb, AnySpelling):
        ids, kb = kb.own_ids(ids), kb.base
    return replace(relation, degree=_Credit(relation.near, ids, kb), graded=True, right=None)


class _Credit:
    """A point for the same entity, and a part of one for near ones."""

    def __init__(self, points: Mapping[str, float], ids: list[str], kb: KB) -> None:
        self._points, self._ids, self._kb = points, ids, kb

    @cached_property
    def _known(self) -> KnownEntities:
        return KnownEntities(self._kb, self._ids)

    def __call__(self, gold: Items, answers: Items, pairs: Pairs) -> Floats:
        degree = same_entity(gold, answers, pairs).astype(np.float64)
        left, other = gold.entity[pairs.gold], answers.entity[pairs.answer]
        open_pairs = np.flatnonzero((degree == 0) & (left >= 0) & (other >= 0))
        if len(open_pairs):
            codes = np.column_stack([left[open_pairs], other[open_pairs]])
            values, place = np.unique(codes, axis=0, return_inverse=True)
            near = (self._known.nearness(self._ids[one], self._ids[two]) for one, two in values.tolist())
            points = np.array([self._points.get(kind, 0.0) for kind in near])
            degree[open_pairs] = points[place.ravel()]
        return degree
