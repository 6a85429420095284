"""Strong typing match."""

from karat.matching.align.joins import on_same_span, same_span, same_types
from karat.spec.relation import Relation

RELATION = Relation(
    title="Strong typing match",
    says="The answer has exactly the span of the mention and the right type.",
    located=on_same_span,
    place=same_span,
    degree=same_types,
    detection="mention",
    typed=True,
)
