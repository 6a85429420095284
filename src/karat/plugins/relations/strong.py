"""Strong annotation match."""

from karat.matching.align.overlap import find_same_spans, same_entity, same_span
from karat.model.spec.relation import MatchRelation

RELATION = MatchRelation(
    title="Strong annotation match",
    description="The prediction has exactly the span of the mention and is linked to the same entity.",
    find_pairs=find_same_spans,
    spans_match=same_span,
    degree=same_entity,
    detection="mention",
)
