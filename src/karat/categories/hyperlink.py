"""Hyperlinks."""

from karat.model.cases import Cases
from karat.model.tables.columns import Bools
from karat.spec.category import Category, Example


def _error(c: Cases) -> Bools:
    return c.hyperlink & (c.missed | c.spurious)


def _avoided(c: Cases) -> Bools:
    return c.hyperlink & c.right


CATEGORY = Category(
    title="Hyperlinks",
    says="Mentions that are links in the source of the text, and were missed or linked wrong.",
    group="hyperlink",
    error=_error,
    avoided=_avoided,
    among="mentions that are links in the source",
    example=Example(
        gold="The [Elbe → Elbe] is longer than the [Oder → Oder].",
        answers="The Elbe is longer than the [Oder → Oder].",
        errors=1,
        total=2,
        links=("Elbe", "Oder"),
    ),
)
