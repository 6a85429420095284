"""Difficulty."""

from karat.model.facet import Facet, strings
from karat.model.tables.columns import Mentions
from karat.spec.label import Label


def _values(mentions: Mentions) -> Facet:
    return strings(mentions.field("difficulty"), len(mentions))


LABEL = Label(
    title="Difficulty",
    says="How difficult the gold standard says a mention is.",
    carried=_values,
    field="difficulty",
    whole="parts",
)
