"""Types."""

from karat.model.facet import Facet, strings
from karat.model.tables.columns import Mentions
from karat.spec.label import Label


def _values(mentions: Mentions) -> Facet:
    return strings(mentions.field("types"), len(mentions))


LABEL = Label(
    title="Types",
    says="The types that mentions carry; an answer without any has those that the gold standard gives its entity.",
    carried=_values,
    field="types",
    borrowed=True,
    whole="always",
)
