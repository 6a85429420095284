"""When links are right though they are not the same: by how related their entities are."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from karat.errors import UsageError
from karat.kb.any_spelling import AnySpelling
from karat.kb.pack.pack import Pack
from karat.kb.protocol import KB
from karat.kb.relatedness import InLinks
from karat.matching.align.joins import same_entity
from karat.model.items import Items, Pairs
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools
from karat.spec.relation import Relation


def related(relation: Relation, names: Arrow, kb: KB | None) -> Relation:
    """The relation with entities compared by the links of a pack; `names` are what codes of entities stand for.

    Entities of which the pack does not know how related they are, are related only to themselves.
    """
    ids = names.to_pylist()
    if isinstance(kb, AnySpelling):
        ids, kb = kb.own_ids(ids), kb.base
    if not isinstance(kb, Pack) or kb.table("links") is None:
        found = "there is no knowledge base" if kb is None else f"{kb.name} has no links"
        raise UsageError(
            f"{relation.title.lower()} needs links between entities, and {found}. Give a pack with links by --kb."
        )
    assert relation.least is not None
    return replace(relation, degree=_Degree(relation.least, ids, kb))


class _Degree:
    """Which pairs are linked to the same entity or to a related one."""

    def __init__(self, least: float, ids: list[str], pack: Pack) -> None:
        self._least, self._ids, self._pack = least, ids, pack

    @cached_property
    def _links(self) -> InLinks:
        return InLinks.about(self._pack, self._ids)

    def __call__(self, gold: Items, answers: Items, pairs: Pairs) -> Bools:
        right = same_entity(gold, answers, pairs)
        left, other = gold.entity[pairs.gold], answers.entity[pairs.answer]
        open_pairs = np.flatnonzero(~right & (left >= 0) & (other >= 0))
        if len(open_pairs):
            codes = np.column_stack([left[open_pairs], other[open_pairs]])
            values, place = np.unique(codes, axis=0, return_inverse=True)
            ids = [[self._ids[code] for code in column] for column in values.T.tolist()]
            near = np.nan_to_num(self._links.relatedness(*ids)) >= self._least
            right[open_pairs] = near[place.ravel()]
        return right
