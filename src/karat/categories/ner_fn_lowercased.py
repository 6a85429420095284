"""Undetected lowercased mentions."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.undetected & c.lowercased


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & c.detected & c.lowercased


CATEGORY = Category(
    title="Undetected lowercased mentions",
    says="Undetected mentions whose first letter is no capital, among all such mentions.",
    group="ner-fn",
    error=_error,
    avoided=_avoided,
    rank=1,
    elevant=("ner_fn", "lowercased"),
    elevant_labels=("NER_FN_LOWERCASED", "AVOIDED_NER_FN_LOWERCASED"),
)
