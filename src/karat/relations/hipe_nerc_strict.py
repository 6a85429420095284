"""HIPE's strict match of mentions and types."""

from karat.matching.align.joins import same_span, same_types
from karat.matching.align.walk import PAIRS, walked_by_type
from karat.model.items import Items, Pairs
from karat.model.tables.columns import Bools
from karat.spec.relation import Relation


def _degree(gold: Items, answers: Items, pairs: Pairs) -> Bools:
    return same_span(gold, answers, pairs) & same_types(gold, answers, pairs)


RELATION = Relation(
    title="HIPE strict NERC",
    says=f"The answer has exactly the span of the mention and its type. {PAIRS}",
    located=walked_by_type,
    degree=_degree,
    detection="mention",
    typed=True,
    by_gold=True,
    ordered=True,
)
