"""Near misses: the relation of a wrong entity to the correct one, and partial credit for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from karat.kb.hierarchy import LITERAL_ROLES, find_roles
from karat.kb.ids.normalising_kb import NormalisingKB
from karat.kb.protocol import KB
from karat.matching.align.overlap import same_entity
from karat.model.errors import UsageError
from karat.model.items import Items, Pairs
from karat.model.output.command_options import format_option
from karat.model.spec.relation import MatchRelation, Nearness
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats


class EntityNeighbourhood:
    """Names and classes of some entities in a knowledge base."""

    def __init__(self, kb: KB, ids: Sequence[str]) -> None:
        self._hierarchy = kb.hierarchy
        self._types = dict(zip(ids, kb.types(ids), strict=True))
        self._names = {
            id: ({name} if name else set()) | (aliases or set())
            for id, name, aliases in zip(ids, kb.names(ids), kb.aliases(ids), strict=True)
        }

    def nearness(self, gold: str, prediction: str) -> Nearness:
        """Return how near a wrong entity is to the gold entity, such as a parent class or an entity of the same name.

        Undecided if there are neither names nor classes of one of them.
        """
        gold_classes, predicted_classes = self._all_classes(gold), self._all_classes(prediction)
        if prediction in gold_classes:
            return Nearness.PARENT
        if gold in predicted_classes:
            return Nearness.CHILD
        if self._names[gold] & self._names[prediction]:
            is_metonym = _is_metonym(gold_classes, predicted_classes) or _is_metonym(predicted_classes, gold_classes)
            return Nearness.METONYM if is_metonym else Nearness.SAME_NAME
        if self._direct_classes(gold) & self._direct_classes(prediction):
            return Nearness.SIBLING
        is_decided = all(self._names[id] or self._direct_classes(id) for id in (gold, prediction))
        return Nearness.FAR if is_decided else Nearness.UNDECIDED

    def _direct_classes(self, id: str) -> set[str]:
        """Return the types of an entity and its direct superclasses."""
        return {*(self._types[id] or ()), *self._hierarchy.superclasses.get(id, ())}

    def _all_classes(self, id: str) -> set[str]:
        """Return the direct classes of an entity and all their superclasses."""
        return {ancestor for direct in self._direct_classes(id) for ancestor in self._hierarchy.find_ancestors(direct)}


def _is_metonym(classes: set[str], place_classes: set[str]) -> bool:
    """Return whether an entity is named by the name of a place, by the known classes of both, as in `Facts.metonym`."""
    roles, place_roles = (frozenset[str]().union(*map(find_roles, names)) for names in (classes, place_classes))
    return bool(classes) and roles.isdisjoint(LITERAL_ROLES) and "place" in place_roles


def add_near_miss_credit(relation: MatchRelation, names: Arrow, kb: KB | None) -> MatchRelation:
    """Return the relation with `relation.partial_credit` for near misses; `names` are the ids by entity code.

    Pairs that the knowledge base cannot decide earn nothing. Raise `UsageError` without knowledge base, and for
    relations that do not compare links as `same_entity` does.
    """
    assert relation.partial_credit is not None
    if relation.degree is not same_entity:
        raise UsageError(
            f"{relation.title.lower()}: this relation cannot give credit for near misses. Use strong or weak."
        )
    if kb is None:
        raise UsageError(
            "partial credit for near misses needs a knowledge base with names, types or classes. Pass one with "
            f"{format_option('kb')}."
        )
    ids = names.to_pylist()
    if isinstance(kb, NormalisingKB):
        ids, kb = kb.find_base_ids(ids), kb.base
    return replace(
        relation, degree=_NearMissDegree(relation.partial_credit, ids, kb), is_graded=True, find_correct_pairs=None
    )


class _NearMissDegree:
    """Degree function: 1 for the same entity, partial credit for near misses."""

    def __init__(self, points: Mapping[str, float], ids: list[str], kb: KB) -> None:
        self._credit, self._ids, self._kb = points, ids, kb

    @cached_property
    def _entities(self) -> EntityNeighbourhood:
        """Names and classes of the entities, from the knowledge base."""
        return EntityNeighbourhood(self._kb, self._ids)

    def __call__(self, gold: Items, predictions: Items, pairs: Pairs) -> Floats:
        degree = same_entity(gold, predictions, pairs).astype(np.float64)
        gold_entity, predicted_entity = gold.entity[pairs.gold], predictions.entity[pairs.prediction]
        different = np.flatnonzero((degree == 0) & (gold_entity >= 0) & (predicted_entity >= 0))
        if len(different):
            codes = np.column_stack([gold_entity[different], predicted_entity[different]])
            values, index = np.unique(codes, axis=0, return_inverse=True)
            kinds = (
                self._entities.nearness(self._ids[gold_code], self._ids[predicted_code])
                for gold_code, predicted_code in values.tolist()
            )
            credit = np.array([self._credit.get(kind, 0.0) for kind in kinds])
            degree[different] = credit[index.ravel()]
        return degree
