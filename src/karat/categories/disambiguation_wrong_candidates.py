"""Missing candidates."""

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.spec.category import Category


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.detected & c.wrong_link & ~c.among_candidates


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & c.detected & (c.right | c.among_candidates)


CATEGORY = Category(
    title="Missing candidates",
    says="Wrong links of mentions whose entity was not among the candidates of the system.",
    group="candidates",
    error=_error,
    avoided=_avoided,
    needs_candidates=True,
    elevant=("wrong_disambiguation", "wrong_candidates"),
    elevant_labels=("DISAMBIGUATION_CANDIDATES_WRONG", "DISAMBIGUATION_CANDIDATES_CORRECT"),
)
