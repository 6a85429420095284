"""Match relations in which a link to a related entity is correct."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.kb.ids.normalising_kb import NormalisingKB
from karat.kb.protocol import KB
from karat.kb.relatedness import InLinks
from karat.kb.snapshot.snapshot import Snapshot
from karat.matching.align.overlap import same_entity
from karat.model.errors import UsageError
from karat.model.items import Items, Pairs
from karat.model.output.command_options import format_option
from karat.model.spec.relation import MatchRelation
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools


def compare_by_relatedness(relation: MatchRelation, names: Arrow, kb: KB | None) -> MatchRelation:
    """Return the relation in which links to entities of at least `relation.min_relatedness` are correct.

    `names` are the ids by entity code. Entities without known relatedness are related only to themselves. Raise
    `UsageError` unless `kb` is a snapshot with links.
    """
    ids = names.to_pylist()
    if isinstance(kb, NormalisingKB):
        ids, kb = kb.find_base_ids(ids), kb.base
    if not isinstance(kb, Snapshot) or kb.get_table("links") is None:
        problem = "there is no knowledge base" if kb is None else f"{kb.name} has no links"
        raise UsageError(
            f"{relation.title.lower()} needs links between entities, and {problem}. Pass a snapshot with links by "
            f"{format_option('kb')}."
        )
    assert relation.min_relatedness is not None
    return replace(relation, degree=_RelatednessDegree(relation.min_relatedness, ids, kb))


class _RelatednessDegree:
    """Degree function: whether a pair has the same entity or a related one."""

    def __init__(self, min_relatedness: float, ids: list[str], snapshot: Snapshot) -> None:
        self._min_relatedness, self._ids, self._snapshot = min_relatedness, ids, snapshot

    def __call__(self, gold: Items, predictions: Items, pairs: Pairs) -> Bools:
        is_correct = same_entity(gold, predictions, pairs)
        gold_entity, predicted_entity = gold.entity[pairs.gold], predictions.entity[pairs.prediction]
        different = np.flatnonzero(~is_correct & (gold_entity >= 0) & (predicted_entity >= 0))
        if len(different):
            codes = np.column_stack([gold_entity[different], predicted_entity[different]])
            values, index = np.unique(codes, axis=0, return_inverse=True)
            ids = [[self._ids[code] for code in column] for column in values.T.tolist()]
            links = InLinks.from_snapshot(self._snapshot, [*ids[0], *ids[1]])
            is_related = np.nan_to_num(links.relatedness(*ids)) >= self._min_relatedness
            is_correct[different] = is_related[index.ravel()]
        return is_correct
