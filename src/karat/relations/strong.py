"""Strong annotation match."""

from karat.matching.align.joins import overlapping, same_entity, same_span
from karat.spec.relation import Relation

RELATION = Relation(
    title="Strong annotation match",
    says="The answer has exactly the span of the mention and is linked to the same entity.",
    located=overlapping,
    place=same_span,
    degree=same_entity,
    detection="mention",
)
