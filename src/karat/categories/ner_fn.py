"""Undetected mentions."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.undetected


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & c.detected


CATEGORY = Category(
    title="Undetected mentions",
    says="Mentions that no answer stands on.",
    group="ner-fn",
    error=_error,
    avoided=_avoided,
    among="mentions",
    example=Example(
        gold="[Lake Como → Lake Como] freezes, [Lake Garda → Lake Garda] does not.",
        answers="Lake Como freezes, [Lake Garda → Lake Garda] does not.",
        errors=1,
        total=2,
    ),
)
