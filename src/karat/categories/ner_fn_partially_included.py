"""Partially included mentions."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.undetected & c.around_spurious


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & ~c.lowercased & c.multiword & (c.detected | c.undetected)


CATEGORY = Category(
    title="Partially included mentions",
    says="Undetected mentions of which an answer covers a part only, among the mentions of several words.",
    group="ner-fn",
    error=_error,
    avoided=_avoided,
    rank=2,
    elevant=("ner_fn", "partially_included"),
    elevant_labels=("NER_FN_PARTIALLY_INCLUDED", "AVOIDED_NER_FN_PARTIALLY_INCLUDED"),
)
