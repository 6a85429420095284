"""Related annotation match."""

from karat.matching.align.joins import on_same_span, same_entity, same_span
from karat.spec.relation import Relation

RELATION = Relation(
    title="Related annotation match",
    says="The answer has exactly the span of the mention and is linked to the same entity or to a related one: by at "
    "least 0.5, or the number that is named (related>=0.7), as Milne and Witten measure it on the links of a pack.",
    located=on_same_span,
    place=same_span,
    degree=same_entity,
    detection="mention",
    least=0.5,
)
