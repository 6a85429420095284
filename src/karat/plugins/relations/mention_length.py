"""BAT's strong mention match, as its code computes it."""

from karat.matching.align.overlap import find_same_lengths
from karat.model.spec.relation import MatchRelation

RELATION = MatchRelation(
    title="Length match",
    description="The prediction is as long as the mention, at any offset of the document. BAT's code computes its "
    "strong mention match this way, by mistake; use `mention` for the intended meaning.",
    find_pairs=find_same_lengths,
    is_lenient=True,
)
