"""Categories with the inner nodes of the scheme."""

from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import add_inner_categories, string_values

FACET = Facet(
    title="Categories",
    description="The categories of a mention with the inner nodes of the fine-grained scheme: a full name is also a "
    "proper form.",
    from_mentions=lambda mentions: add_inner_categories(string_values(mentions.field("categories"), len(mentions))),
    needs_context="always",
    example="“Angela Merkel” with the category `form:Full` is in the groups `form:Full` and `form:ProperForm`.",
)
