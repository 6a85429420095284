"""Rare mentions."""

from karat.model.cases import Cases
from karat.model.truth import Truth, both
from karat.spec.category import Category


def _error(c: Cases) -> Truth:
    return both(~c.coreference & c.wrong_link, c.rare)


def _avoided(c: Cases) -> Truth:
    return both(~c.coreference & c.right, c.rare)


def _tempted(c: Cases) -> Truth:
    return c.to_popular


CATEGORY = Category(
    title="Rare mentions",
    says="Wrong links of texts that are popular for other entities.",
    group="disambiguation",
    error=_error,
    avoided=_avoided,
    rank=4,
    exclusive="both",
    tempted=_tempted,
    elevant=("wrong_disambiguation", "rare"),
    elevant_labels=("DISAMBIGUATION_RARE_WRONG", "DISAMBIGUATION_RARE_CORRECT"),
)
