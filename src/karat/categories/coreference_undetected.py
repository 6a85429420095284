"""Undetected coreference."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return c.coreference & c.undetected & ~c.overdetected


def _avoided(c: Cases) -> Bools:
    return c.coreference & (c.right | c.missed)


CATEGORY = Category(
    title="Undetected coreference",
    says="Pronouns and nominal phrases that refer back and that no answer stands on.",
    group="coreference",
    error=_error,
    avoided=_avoided,
    whole=True,
    elevant=("wrong_coreference", "undetected"),
    elevant_labels=("COREFERENCE_UNDETECTED", ""),
)
