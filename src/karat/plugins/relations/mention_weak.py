"""Weak mention match."""

from karat.matching.align.overlap import find_overlaps
from karat.model.spec.relation import MatchRelation

RELATION = MatchRelation(
    title="Weak mention match",
    description="The prediction overlaps the mention; links are not compared.",
    find_pairs=find_overlaps,
    is_lenient=True,
)
