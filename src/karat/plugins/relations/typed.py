"""Strong typing match."""

from karat.matching.align.overlap import find_same_spans, same_span, same_types
from karat.model.spec.relation import MatchRelation

RELATION = MatchRelation(
    title="Strong typing match",
    description="The prediction has exactly the span of the mention and the correct type.",
    find_pairs=find_same_spans,
    spans_match=same_span,
    degree=same_types,
    detection="mention",
    is_typed=True,
)
