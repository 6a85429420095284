"""Wrong links."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.wrong_link


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & c.right


CATEGORY = Category(
    title="Wrong links",
    says="Detected mentions that are linked to a wrong entity.",
    group="disambiguation",
    error=_error,
    avoided=_avoided,
    elevant=("wrong_disambiguation", "all"),
    elevant_labels=("DISAMBIGUATION_WRONG", "DISAMBIGUATION_CORRECT"),
)
