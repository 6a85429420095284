"""Undetected coreference."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return c.coreference & c.undetected & ~c.overdetected


def _avoided(c: Cases) -> Bools:
    return c.coreference & (c.right | c.missed)


CATEGORY = Category(
    title="Undetected coreference",
    says='Pronouns, and phrases such as "the company", that refer back and that no answer stands on.',
    group="coreference",
    error=_error,
    avoided=_avoided,
    among="pronouns and such phrases that refer back",
    whole=True,
    example=Example(
        gold="[Mary Anning → Mary Anning] drew what [she → Mary Anning] found near [her → Mary Anning] house.",
        answers="[Mary Anning → Mary Anning] drew what [she → Mary Anning] found near her house.",
        errors=1,
        total=2,
    ),
)
