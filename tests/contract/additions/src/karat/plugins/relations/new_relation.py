"""A made-up relation."""

from karat.matching.align.overlap import find_overlaps, same_entity
from karat.model.spec.relation import MatchRelation

RELATION = MatchRelation(
    title="Made-up match",
    description="The same entity on an overlapping span.",
    find_pairs=find_overlaps,
    degree=same_entity,
    detection="mention-weak",
)
