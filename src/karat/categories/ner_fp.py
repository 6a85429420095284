"""Spurious mentions."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.overdetected


CATEGORY = Category(
    title="Spurious mentions",
    says="Answers where no mention is, among all words of the text.",
    group="ner-fp",
    error=_error,
    words="all",
    elevant=("ner_fp", "all"),
    elevant_labels=("NER_FP", ""),
)
