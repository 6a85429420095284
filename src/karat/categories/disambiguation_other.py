"""Other wrong links."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.wrong_link


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & c.right


CATEGORY = Category(
    title="Other wrong links",
    says="Wrong links of mentions that are in no other category.",
    group="disambiguation",
    error=_error,
    avoided=_avoided,
    rank=5,
    exclusive="both",
    elevant=("wrong_disambiguation", "other"),
    elevant_labels=("DISAMBIGUATION_OTHER_WRONG", "DISAMBIGUATION_OTHER_CORRECT"),
)
