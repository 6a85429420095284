"""Weak annotation match."""

from karat.matching.align.joins import overlapping, overlapping_alike, same_entity
from karat.spec.relation import Relation

RELATION = Relation(
    title="Weak annotation match",
    says="The answer overlaps the mention and is linked to the same entity.",
    located=overlapping,
    loose=True,
    degree=same_entity,
    detection="mention-weak",
    right=overlapping_alike,
)
