"""Kinds of mentions."""

from karat.model.facet import Facet, strings
from karat.model.tables.columns import Mentions
from karat.spec.label import Label


def _values(mentions: Mentions) -> Facet:
    return strings(mentions.field("kind"), len(mentions))


LABEL = Label(
    title="Kinds of mentions",
    says="What kind of mention it is: a quantity, a datetime, a coreference, a description.",
    carried=_values,
    field="kind",
    whole="parts",
)
