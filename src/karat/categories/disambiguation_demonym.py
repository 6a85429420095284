"""Demonyms."""

from karat.model.cases import Cases
from karat.model.truth import Truth, both
from karat.spec.category import Category, Example


def _error(c: Cases) -> Truth:
    return both(~c.coreference & c.wrong_link, c.demonym)


def _avoided(c: Cases) -> Truth:
    return both(~c.coreference & c.right, c.demonym)


CATEGORY = Category(
    title="Demonyms",
    says="Wrong links of demonyms, such as German: the text is in the list of demonyms, and the entity is a place, "
    "a people or a language.",
    group="disambiguation",
    error=_error,
    avoided=_avoided,
    among="detected mentions that are demonyms",
    rank=1,
    exclusive="both",
    needs=("demonyms", "types"),
    example=Example(
        gold="A [Danish → Denmark] ship met two [Swedish → Sweden] ones.",
        answers="A [Danish → Danish language] ship met two [Swedish → Sweden] ones.",
        errors=1,
        total=2,
        types={"Denmark": "LOC", "Sweden": "LOC"},
        demonyms=("Danish", "Swedish"),
    ),
)
