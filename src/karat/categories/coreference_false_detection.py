"""False coreference."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return c.false_coreference


CATEGORY = Category(
    title="False coreference",
    says='Pronouns, and phrases such as "the company", that are linked where no mention is.',
    group="coreference",
    error=_error,
    elsewhere=True,
    example=Example(
        gold="The [Elbe → Elbe] was high, and it rained.",
        answers="The [Elbe → Elbe] was high, and [it → Elbe] rained.",
        errors=1,
        total=None,
    ),
)
