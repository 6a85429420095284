"""NIL clusters."""

from karat.model.spec.facet import Facet
from karat.model.tables.columns import Mentions
from karat.model.tables.facet_values import FacetValues, string_values


def _read_values(mentions: Mentions) -> FacetValues:
    """Return the `nil_cluster` of each mention."""
    return string_values(mentions.field("nil_cluster"), len(mentions))


FACET = Facet(
    title="NIL clusters",
    description="The cluster of mentions of the same entity outside the knowledge base.",
    from_mentions=_read_values,
    field="nil_cluster",
    needs_context="always",
)
