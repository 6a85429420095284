"""Rare mentions."""

from karat.model.cases import Cases
from karat.model.truth import Truth, both
from karat.spec.category import Category, Example


def _error(c: Cases) -> Truth:
    return both(~c.coreference & c.wrong_link, c.rare)


def _avoided(c: Cases) -> Truth:
    return both(~c.coreference & c.right, c.rare)


def _tempted(c: Cases) -> Truth:
    return c.to_popular


CATEGORY = Category(
    title="Rare mentions",
    says="Wrong links of rare mentions: the text is popular for other entities, and not for the one that is meant.",
    group="disambiguation",
    error=_error,
    avoided=_avoided,
    among="detected mentions that are rare",
    rank=4,
    exclusive="both",
    needs=("popular entities",),
    tempted=_tempted,
    example=Example(
        gold="It is far from [Memphis → Men-nefer] to [Thebes → Waset].",
        answers="It is far from [Memphis → Memphis (Tennessee)] to [Thebes → Waset].",
        errors=1,
        total=2,
        types={"Men-nefer": "LOC", "Waset": "LOC", "Memphis (Tennessee)": "LOC", "Thebes (Greece)": "LOC"},
        popular={"Memphis": "Memphis (Tennessee)", "Thebes": "Thebes (Greece)"},
    ),
)
