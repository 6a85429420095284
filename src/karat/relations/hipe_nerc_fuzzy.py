"""HIPE's fuzzy match of mentions and types."""

from karat.matching.align.joins import same_types
from karat.matching.align.walk import PAIRS, walked_by_type
from karat.spec.relation import Relation

RELATION = Relation(
    title="HIPE fuzzy NERC",
    says=f"The answer overlaps the mention and has its type. {PAIRS}",
    located=walked_by_type,
    loose=True,
    degree=same_types,
    detection="mention-weak",
    typed=True,
    by_gold=True,
    ordered=True,
)
