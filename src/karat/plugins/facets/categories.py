"""Categories as written."""

from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import string_values

FACET = Facet(
    title="Categories as written",
    description="The categories of a mention, as written.",
    from_mentions=lambda mentions: string_values(mentions.field("categories"), len(mentions)),
    field="categories",
    needs_context="always",
    example="A mention with the category `form:Full` in the file is in the group `form:Full`.",
)
