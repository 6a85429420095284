"""Wrong spans."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return c.overdetected & c.off_its_mention


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & (c.detected | c.overdetected)


CATEGORY = Category(
    title="Wrong spans",
    says="Spurious answers that overlap a mention of the very entity they lead to, but do not have its span.",
    group="ner-fp",
    error=_error,
    avoided=_avoided,
    among="answers that detect a mention, and spurious ones",
    elsewhere=True,
    example=Example(
        gold="The [Bergen Line → Bergen Line] begins in [Oslo → Oslo].",
        answers="[The Bergen Line → Bergen Line] begins in [Oslo → Oslo].",
        errors=1,
        total=2,
    ),
)
