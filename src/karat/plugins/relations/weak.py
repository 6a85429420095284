"""Weak annotation match."""

from karat.matching.align.overlap import find_linked_overlaps, find_overlaps, same_entity
from karat.model.spec.relation import MatchRelation

RELATION = MatchRelation(
    title="Weak annotation match",
    description="The prediction overlaps the mention and is linked to the same entity.",
    find_pairs=find_overlaps,
    is_lenient=True,
    degree=same_entity,
    detection="mention-weak",
    find_correct_pairs=find_linked_overlaps,
)
