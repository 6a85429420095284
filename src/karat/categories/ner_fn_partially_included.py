"""Partially included mentions."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.undetected & c.around_spurious


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & ~c.lowercased & c.multiword & (c.detected | c.undetected)


CATEGORY = Category(
    title="Partially included mentions",
    says="Undetected capitalised mentions of which a spurious answer covers only a part.",
    group="ner-fn",
    error=_error,
    avoided=_avoided,
    among="capitalised mentions of several words",
    rank=2,
    elsewhere=True,
    example=Example(
        gold="From [Monte Baldo → Monte Baldo] one sees [Lake Garda → Lake Garda] and [Verona → Verona].",
        answers="From [Monte Baldo → Monte Baldo] one sees Lake [Garda → Garda (town)] and [Verona → Verona].",
        errors=1,
        total=2,
    ),
)
