"""Partial names."""

from karat.model.cases import Cases
from karat.model.truth import Truth, both
from karat.spec.category import Category, Example


def _error(c: Cases) -> Truth:
    return both(~c.coreference & c.wrong_link, c.partial_name)


def _avoided(c: Cases) -> Truth:
    return both(~c.coreference & c.right, c.partial_name)


CATEGORY = Category(
    title="Partial names",
    says="Wrong links of partial names, such as Curie: the text is a part of the entity's name, which has several "
    "words.",
    group="disambiguation",
    error=_error,
    avoided=_avoided,
    among="detected mentions that are partial names",
    rank=3,
    exclusive="both",
    needs=("names",),
    example=Example(
        gold="[Anning → Mary Anning] wrote to [Lyell → Charles Lyell].",
        answers="[Anning → Anning (surname)] wrote to [Lyell → Charles Lyell].",
        errors=1,
        total=2,
        types={"Mary Anning": "PER", "Charles Lyell": "PER"},
    ),
)
