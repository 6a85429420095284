"""Strong mention match."""

from karat.matching.align.joins import on_same_span, same_span
from karat.spec.relation import Relation

RELATION = Relation(
    title="Strong mention match",
    says="The answer has exactly the span of the mention, whatever it is linked to.",
    located=on_same_span,
    place=same_span,
)
