"""Reference wrongly disambiguated."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return c.coreference & c.wrong_link & c.wrong_reference


def _avoided(c: Cases) -> Bools:
    detected = ~(c.undetected & ~c.overdetected & c.counts)
    return c.coreference & (c.right | c.missed) & detected & ~(c.wrong_link & c.other_reference & c.counts)


CATEGORY = Category(
    title="Reference wrongly disambiguated",
    says="Coreference that is linked as the nearest named mention of its entity before it, and both are wrong.",
    group="coreference",
    error=_error,
    avoided=_avoided,
    whole=True,
    elevant=("wrong_coreference", "reference_wrongly_disambiguated"),
    elevant_labels=("COREFERENCE_REFERENCE_WRONGLY_DISAMBIGUATED", ""),
)
