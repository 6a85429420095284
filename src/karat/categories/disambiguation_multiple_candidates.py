"""Wrong choice among candidates."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.several_candidates & c.among_candidates & c.wrong_link


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & c.several_candidates & c.among_candidates & c.right


CATEGORY = Category(
    title="Wrong choice among candidates",
    says="Wrong links of mentions whose entity was among several candidates that the system considered.",
    group="candidates",
    error=_error,
    avoided=_avoided,
    among="detected mentions whose entity was among several candidates",
    needs_candidates=True,
    example=Example(
        gold="[Georgia → Georgia (state)] is hotter than [Albany → Albany (New York)].",
        answers="[Georgia → Georgia (country), not Georgia (state)] is hotter than "
        "[Albany → Albany (New York), not Albany (Georgia)].",
        errors=1,
        total=2,
    ),
)
