"""Types."""

from karat.model.tables.columns import Mentions
from karat.model.tables.facet import Facet, strings
from karat.spec.grouping import Grouping


def _values(mentions: Mentions) -> Facet:
    return strings(mentions.field("types"), len(mentions))


GROUPING = Grouping(
    title="Types",
    says="The types that mentions carry; an answer without any has those that the gold standard gives its entity.",
    carried=_values,
    field="types",
    borrowed=True,
    whole="always",
)
