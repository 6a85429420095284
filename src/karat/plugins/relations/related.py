"""Related annotation match."""

from karat.matching.align.overlap import find_same_spans, same_entity, same_span
from karat.model.spec.relation import MatchRelation

RELATION = MatchRelation(
    title="Related annotation match",
    description="The prediction has exactly the span of the mention and is linked to the same or a related entity. "
    "The relatedness of Milne and Witten, computed from the links of a snapshot, must be at least 0.5, or "
    "the number in the name (related>=0.7).",
    find_pairs=find_same_spans,
    spans_match=same_span,
    degree=same_entity,
    detection="mention",
    min_relatedness=0.5,
)
