"""Wrong links."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.wrong_link


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & c.right


CATEGORY = Category(
    title="Wrong links",
    says="Mentions that were detected and linked to a wrong entity.",
    group="disambiguation",
    error=_error,
    avoided=_avoided,
    among="mentions that were detected",
    example=Example(
        gold="From [Dover → Dover (Delaware)] she flew to [Oslo → Oslo].",
        answers="From [Dover → Dover (Kent)] she flew to [Oslo → Oslo].",
        errors=1,
        total=2,
    ),
)
