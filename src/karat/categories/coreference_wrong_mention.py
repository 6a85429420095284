"""Wrong mention referenced."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return c.coreference & c.wrong_link & c.other_reference


def _avoided(c: Cases) -> Bools:
    detected = ~(c.undetected & ~c.overdetected & c.counts)
    return c.coreference & (c.right | c.missed) & detected


CATEGORY = Category(
    title="Wrong mention referenced",
    says="Coreference that is linked otherwise than the nearest named mention of its entity before it.",
    group="coreference",
    error=_error,
    avoided=_avoided,
    whole=True,
    elevant=("wrong_coreference", "wrong_mention_referenced"),
    elevant_labels=("COREFERENCE_WRONG_MENTION_REFERENCED", ""),
)
