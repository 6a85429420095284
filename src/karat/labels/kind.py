"""Kinds of mentions."""

from karat.model.tables.columns import Mentions
from karat.model.tables.facet import Facet, strings
from karat.spec.grouping import Grouping


def _values(mentions: Mentions) -> Facet:
    return strings(mentions.field("kind"), len(mentions))


GROUPING = Grouping(
    title="Kinds of mentions",
    says="What kind of mention it is: a quantity, a datetime, a coreference, a description.",
    carried=_values,
    field="kind",
    whole="parts",
)
