"""Weak mention match."""

from karat.matching.align.joins import overlapping
from karat.spec.relation import Relation

RELATION = Relation(
    title="Weak mention match",
    says="The answer overlaps the mention, whatever it is linked to.",
    located=overlapping,
    loose=True,
)
