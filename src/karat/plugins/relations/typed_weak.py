"""Weak typing match."""

from karat.matching.align.overlap import find_overlaps, same_types
from karat.model.spec.relation import MatchRelation

RELATION = MatchRelation(
    title="Weak typing match",
    description="The prediction overlaps the mention and has the correct type.",
    find_pairs=find_overlaps,
    is_lenient=True,
    degree=same_types,
    detection="mention-weak",
    is_typed=True,
)
