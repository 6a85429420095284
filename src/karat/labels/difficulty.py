"""Difficulty."""

from karat.model.tables.columns import Mentions
from karat.model.tables.facet import Facet, strings
from karat.spec.grouping import Grouping


def _values(mentions: Mentions) -> Facet:
    return strings(mentions.field("difficulty"), len(mentions))


GROUPING = Grouping(
    title="Difficulty",
    says="How difficult the gold standard says a mention is.",
    carried=_values,
    field="difficulty",
    whole="parts",
)
