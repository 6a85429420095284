"""Strong annotation match."""

from karat.matching.align.joins import on_same_span, same_entity, same_span
from karat.spec.relation import Relation

RELATION = Relation(
    title="Strong annotation match",
    says="The answer has exactly the span of the mention and is linked to the same entity.",
    located=on_same_span,
    place=same_span,
    degree=same_entity,
    detection="mention",
)
