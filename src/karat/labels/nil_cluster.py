"""NIL clusters."""

from karat.model.facet import Facet, strings
from karat.model.tables.columns import Mentions
from karat.spec.label import Label


def _values(mentions: Mentions) -> Facet:
    return strings(mentions.field("nil_cluster"), len(mentions))


LABEL = Label(
    title="NIL clusters",
    says="The cluster of mentions that stand for the same entity outside the knowledge base.",
    carried=_values,
    field="nil_cluster",
    whole="always",
)
