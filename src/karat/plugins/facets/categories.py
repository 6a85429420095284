"""Categories as written."""

from karat.model.spec.facet import Facet
from karat.model.tables.columns import Mentions
from karat.model.tables.facet_values import FacetValues, string_values


def _read_values(mentions: Mentions) -> FacetValues:
    """Return the `categories` of each mention as written."""
    return string_values(mentions.field("categories"), len(mentions))


FACET = Facet(
    title="Categories as written",
    description="The categories of a mention, as written.",
    from_mentions=_read_values,
    field="categories",
    needs_context="always",
)
