"""Missing candidates."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.detected & c.wrong_link & ~c.among_candidates


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & c.detected & (c.right | c.among_candidates)


CATEGORY = Category(
    title="Missing candidates",
    says="Wrong links of mentions whose entity was not among the candidates that the system considered.",
    group="candidates",
    error=_error,
    avoided=_avoided,
    among="detected mentions that were linked right or whose entity was a candidate, and these errors",
    needs_candidates=True,
    example=Example(
        gold="[Georgia → Georgia (state)] is hotter than [Alaska → Alaska].",
        answers="[Georgia → Georgia (country), not Georgia (film)] is hotter than "
        "[Alaska → Alaska, not Alaska (band)].",
        errors=1,
        total=2,
    ),
)
