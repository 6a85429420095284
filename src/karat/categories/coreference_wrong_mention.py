"""Wrong mention referenced."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return c.coreference & c.wrong_link & c.other_reference


def _avoided(c: Cases) -> Bools:
    detected = ~(c.undetected & ~c.overdetected & c.counts)
    return c.coreference & (c.right | c.missed) & detected


CATEGORY = Category(
    title="Wrong mention referenced",
    says="Coreference with a wrong link that is not the link of its antecedent, the nearest named mention of its "
    "entity before it: the system took another mention for the antecedent.",
    group="coreference",
    error=_error,
    avoided=_avoided,
    among="coreference that was detected",
    whole=True,
    example=Example(
        gold="[Anning → Mary Anning] met [Lyell → Charles Lyell]. [She → Mary Anning] gave [him → Charles Lyell] tea.",
        answers="[Anning → Mary Anning] met [Lyell → Charles Lyell]. [She → Charles Lyell] gave "
        "[him → Charles Lyell] tea.",
        errors=1,
        total=2,
    ),
)
