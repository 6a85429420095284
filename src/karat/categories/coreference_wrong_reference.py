"""Reference wrongly disambiguated."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return c.coreference & c.wrong_link & c.wrong_reference


def _avoided(c: Cases) -> Bools:
    detected = ~(c.undetected & ~c.overdetected & c.counts)
    return c.coreference & (c.right | c.missed) & detected & ~(c.wrong_link & c.other_reference & c.counts)


CATEGORY = Category(
    title="Reference wrongly disambiguated",
    says="Coreference with a wrong link that is also the link of its antecedent, the nearest named mention of its "
    "entity before it: the system knew the antecedent, and linked both wrong.",
    group="coreference",
    error=_error,
    avoided=_avoided,
    among="coreference that was detected and not taken to another mention",
    whole=True,
    example=Example(
        gold="[Anning → Mary Anning] dug. [She → Mary Anning] drew what [she → Mary Anning] found.",
        answers="[Anning → Anning (surname)] dug. [She → Anning (surname)] drew what [she → Mary Anning] found.",
        errors=1,
        total=2,
    ),
)
