"""Weak typing match."""

from karat.matching.align.joins import overlapping, same_types
from karat.spec.relation import Relation

RELATION = Relation(
    title="Weak typing match",
    says="The answer overlaps the mention and has the right type.",
    located=overlapping,
    loose=True,
    degree=same_types,
    detection="mention-weak",
    typed=True,
)
