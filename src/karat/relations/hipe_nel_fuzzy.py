"""HIPE's fuzzy match of links."""

from karat.matching.align.joins import same_entity
from karat.matching.align.walk import walked_by_link
from karat.spec.relation import Relation

RELATION = Relation(
    title="HIPE fuzzy NEL",
    says="The answer overlaps the mention and is linked to the same entity. Pairs are those of the HIPE scorer: each "
    "answer meets at most one mention, and a mention that a wrong answer met is lost.",
    located=walked_by_link,
    loose=True,
    degree=same_entity,
    detection="mention-weak",
    by_gold=True,
)
