"""NIL clusters."""

from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import string_values

FACET = Facet(
    title="NIL clusters",
    description="The cluster of mentions of the same entity outside the knowledge base.",
    from_mentions=lambda mentions: string_values(mentions.field("nil_cluster"), len(mentions)),
    field="nil_cluster",
    needs_context="always",
    example="“John Doe” and “Mr Doe” with the cluster 4 are in the group `4`.",
)
