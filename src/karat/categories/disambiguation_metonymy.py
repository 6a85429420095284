"""Metonyms."""

from karat.model.cases import Cases
from karat.model.truth import Truth, both
from karat.spec.category import Category, Example


def _error(c: Cases) -> Truth:
    return both(~c.coreference & c.wrong_link, c.metonym)


def _avoided(c: Cases) -> Truth:
    return both(~c.coreference & c.right, c.metonym)


def _tempted(c: Cases) -> Truth:
    return c.to_place


CATEGORY = Category(
    title="Metonyms",
    says="Wrong links of metonyms, such as Berlin for a government: the text is popular for a place, and the "
    "entity is no place, no person and no people.",
    group="disambiguation",
    error=_error,
    avoided=_avoided,
    among="detected mentions that are metonyms",
    rank=2,
    exclusive="both",
    needs=("popular entities", "types"),
    tempted=_tempted,
    example=Example(
        gold="[Vienna → Government of Austria] signed, and [Rome → Government of Italy] did not.",
        answers="[Vienna → Vienna] signed, and [Rome → Government of Italy] did not.",
        errors=1,
        total=2,
        types={"Government of Austria": "ORG", "Government of Italy": "ORG", "Vienna": "LOC", "Rome": "LOC"},
        popular={"Vienna": "Vienna", "Rome": "Rome"},
    ),
)
