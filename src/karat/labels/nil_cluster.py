"""NIL clusters."""

from karat.model.tables.columns import Mentions
from karat.model.tables.facet import Facet, strings
from karat.spec.grouping import Grouping


def _values(mentions: Mentions) -> Facet:
    return strings(mentions.field("nil_cluster"), len(mentions))


GROUPING = Grouping(
    title="NIL clusters",
    says="The cluster of mentions that stand for the same entity outside the knowledge base.",
    carried=_values,
    field="nil_cluster",
    whole="always",
)
