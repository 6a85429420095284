"""Partially overlapped mentions."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.undetected & c.across_spurious


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & ~c.lowercased & (c.detected | c.undetected)


CATEGORY = Category(
    title="Partially overlapped mentions",
    says="Undetected mentions that an answer overlaps in another way.",
    group="ner-fn",
    error=_error,
    avoided=_avoided,
    rank=3,
    elevant=("ner_fn", "partial_overlap"),
    elevant_labels=("NER_FN_PARTIAL_OVERLAP", "AVOIDED_NER_FN_PARTIAL_OVERLAP"),
)
