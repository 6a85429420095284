"""HIPE's strict match of links."""

from karat.matching.align.joins import same_entity, same_span
from karat.matching.align.walk import walked_by_link
from karat.model.items import Items, Pairs
from karat.model.tables.columns import Bools
from karat.spec.relation import Relation


def _degree(gold: Items, answers: Items, pairs: Pairs) -> Bools:
    return same_span(gold, answers, pairs) & same_entity(gold, answers, pairs)


RELATION = Relation(
    title="HIPE strict NEL",
    says="The answer has exactly the span of the mention and is linked to the same entity. Pairs are those of the HIPE "
    "scorer: each answer meets at most one mention, and a mention that a wrong answer met is lost.",
    located=walked_by_link,
    degree=_degree,
    detection="mention",
    by_gold=True,
)
