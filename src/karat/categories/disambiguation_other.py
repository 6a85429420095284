"""Other wrong links."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return ~c.coreference & c.wrong_link


def _avoided(c: Cases) -> Bools:
    return ~c.coreference & c.right


CATEGORY = Category(
    title="Other wrong links",
    says="Wrong links of mentions that are no demonym, no metonym, no partial name and not rare.",
    group="disambiguation",
    error=_error,
    avoided=_avoided,
    among="detected mentions that are none of these",
    rank=5,
    exclusive="both",
    example=Example(
        gold="[Saturn → Saturn] rose over [Bonn → Bonn].",
        answers="[Saturn → Saturn (god)] rose over [Bonn → Bonn].",
        errors=1,
        total=2,
        types={"Saturn": "PLANET", "Bonn": "LOC"},
        popular={"Saturn": "Saturn", "Bonn": "Bonn"},
    ),
)
