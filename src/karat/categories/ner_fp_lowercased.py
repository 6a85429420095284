"""Spurious lowercased mentions."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.overdetected & c.lowercased & ~c.at_mention


CATEGORY = Category(
    title="Spurious lowercased mentions",
    says="Spurious answers whose first letter is no capital and that touch no mention, among the lowercased words of "
    "the text.",
    group="ner-fp",
    error=_error,
    words="lowercased",
    rank=1,
    elevant=("ner_fp", "lowercased"),
    elevant_labels=("NER_FP_LOWERCASED", ""),
)
