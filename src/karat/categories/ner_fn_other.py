"""Other undetected mentions."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.undetected


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & ~c.lowercased & (c.detected | c.undetected)


CATEGORY = Category(
    title="Other undetected mentions",
    says="Undetected capitalised mentions that no spurious answer touches.",
    group="ner-fn",
    error=_error,
    avoided=_avoided,
    among="capitalised mentions",
    rank=4,
    example=Example(
        gold="[Ghent → Ghent] and [Bruges → Bruges] sold [cloth → textile].",
        answers="Ghent and [Bruges → Bruges] sold cloth.",
        errors=1,
        total=2,
    ),
)
