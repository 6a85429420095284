"""Spurious mentions."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.overdetected


CATEGORY = Category(
    title="Spurious mentions",
    says="Answers that stand on no mention, or on one that the view leaves out.",
    group="ner-fp",
    error=_error,
    words="all",
    among="words of the text",
    elsewhere=True,
    example=Example(
        gold="[Bergen → Bergen] was wet.",
        answers="[Bergen → Bergen] was [wet → water].",
        errors=1,
        total=3,
    ),
)
