"""HIPE's fuzzy match of mentions and types."""

from karat.matching.align.hipe_walk import PAIR_RULE, walk_by_type
from karat.matching.align.overlap import same_types
from karat.model.spec.relation import MatchRelation

RELATION = MatchRelation(
    title="HIPE fuzzy NERC",
    description=f"The prediction overlaps the mention and has its type. {PAIR_RULE}",
    find_pairs=walk_by_type,
    is_lenient=True,
    degree=same_types,
    detection="mention-weak",
    is_typed=True,
    uses_gold_group=True,
    is_order_dependent=True,
)
