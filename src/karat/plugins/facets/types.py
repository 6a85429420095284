"""Types."""

from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import string_values

FACET = Facet(
    title="Types",
    description="The types of a mention; a prediction without types has the types that the gold standard gives to its "
    "entity.",
    from_mentions=lambda mentions: string_values(mentions.field("types"), len(mentions)),
    field="types",
    has_ids=True,
    has_gold_fallback=True,
    needs_context="always",
    example="“Bonn” with the type city is in the group of cities.",
)
