"""Categories with the inner nodes of the scheme."""

from karat.model.spec.facet import Facet
from karat.model.tables.columns import Mentions
from karat.model.tables.facet_values import FacetValues, add_inner_categories, string_values


def _read_values(mentions: Mentions) -> FacetValues:
    """Return the `categories` of each mention, with the inner categories of the fine-grained scheme."""
    return add_inner_categories(string_values(mentions.field("categories"), len(mentions)))


FACET = Facet(
    title="Categories",
    description="The categories of a mention with the inner nodes of the fine-grained scheme: a full name is also a "
    "proper form.",
    from_mentions=_read_values,
    needs_context="always",
)
