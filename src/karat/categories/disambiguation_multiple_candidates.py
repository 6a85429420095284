"""Wrong choice among candidates."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.several_candidates & c.among_candidates & c.wrong_link


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & c.several_candidates & c.among_candidates & c.right


CATEGORY = Category(
    title="Wrong choice among candidates",
    says="Wrong links of mentions whose entity was among several candidates of the system.",
    group="candidates",
    error=_error,
    avoided=_avoided,
    needs_candidates=True,
    elevant=("wrong_disambiguation", "multiple_candidates"),
    elevant_labels=("DISAMBIGUATION_MULTI_CANDIDATES_WRONG", "DISAMBIGUATION_MULTI_CANDIDATES_CORRECT"),
)
