"""Spurious lowercased mentions."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.overdetected & c.lowercased & ~c.at_mention


CATEGORY = Category(
    title="Spurious lowercased mentions",
    says="Spurious answers whose first letter is no capital, and that touch no mention.",
    group="ner-fp",
    error=_error,
    words="lowercased",
    among="lowercased words of the text",
    rank=1,
    elsewhere=True,
    example=Example(
        gold="[Bergen → Bergen] was wet and cold.",
        answers="[Bergen → Bergen] was [wet → water] and cold.",
        errors=1,
        total=4,
    ),
)
