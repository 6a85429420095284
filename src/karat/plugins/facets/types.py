"""Types."""

from karat.model.spec.facet import Facet
from karat.model.tables.columns import Mentions
from karat.model.tables.facet_values import FacetValues, string_values


def _read_values(mentions: Mentions) -> FacetValues:
    """Return the `types` of each mention as written."""
    return string_values(mentions.field("types"), len(mentions))


FACET = Facet(
    title="Types",
    description="The types of a mention; a prediction without types has the types that the gold standard gives to its "
    "entity.",
    from_mentions=_read_values,
    field="types",
    has_gold_fallback=True,
    needs_context="always",
)
