"""Strong mention match."""

from karat.matching.align.overlap import find_same_spans, same_span
from karat.model.spec.relation import MatchRelation

RELATION = MatchRelation(
    title="Strong mention match",
    description="The prediction has exactly the span of the mention; links are not compared.",
    find_pairs=find_same_spans,
    spans_match=same_span,
)
