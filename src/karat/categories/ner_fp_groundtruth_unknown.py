"""Links on NIL."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.overdetected & ~c.lowercased & c.nil


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & ~c.lowercased & c.nil & ~c.overdetected


CATEGORY = Category(
    title="Links on NIL",
    says="Spurious capitalised answers on mentions that the gold standard links to NIL.",
    group="ner-fp",
    error=_error,
    avoided=_avoided,
    among="capitalised mentions that the gold standard links to NIL",
    rank=2,
    example=Example(
        gold="[Ann Porter → NIL] married [Tom Reed → NIL].",
        answers="[Ann Porter → Anne Porter] married Tom Reed.",
        errors=1,
        total=2,
    ),
)
