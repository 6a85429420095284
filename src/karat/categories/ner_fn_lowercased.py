"""Undetected lowercased mentions."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.undetected & c.lowercased


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & c.detected & c.lowercased


CATEGORY = Category(
    title="Undetected lowercased mentions",
    says="Undetected mentions whose first letter is no capital.",
    group="ner-fn",
    error=_error,
    avoided=_avoided,
    among="mentions whose first letter is no capital",
    rank=1,
    example=Example(
        gold="She plays the [viola → viola] and the [cello → cello] in [Graz → Graz].",
        answers="She plays the viola and the [cello → cello] in [Graz → Graz].",
        errors=1,
        total=2,
    ),
)
