"""HIPE's strict match of mentions and types."""

from karat.matching.align.hipe_walk import PAIR_RULE, have_same_tokens, walk_by_type
from karat.matching.align.overlap import same_types
from karat.model.items import Items, Pairs
from karat.model.spec.relation import MatchRelation
from karat.model.tables.columns import Bools


def _have_same_tokens_and_type(gold: Items, predictions: Items, pairs: Pairs) -> Bools:
    """Return for each pair whether both have the same span, the same words and the same type."""
    return have_same_tokens(gold, predictions, pairs) & same_types(gold, predictions, pairs)


RELATION = MatchRelation(
    title="HIPE strict NERC",
    description=f"The prediction has exactly the span and words of the mention and its type. {PAIR_RULE}",
    find_pairs=walk_by_type,
    degree=_have_same_tokens_and_type,
    detection="mention",
    is_typed=True,
    uses_gold_group=True,
    is_order_dependent=True,
)
