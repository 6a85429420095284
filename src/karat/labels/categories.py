"""Categories as written."""

from karat.model.tables.columns import Mentions
from karat.model.tables.facet import Facet, strings
from karat.spec.grouping import Grouping


def _values(mentions: Mentions) -> Facet:
    return strings(mentions.field("categories"), len(mentions))


GROUPING = Grouping(
    title="Categories as written",
    says="The categories that mentions carry, as they are written.",
    carried=_values,
    field="categories",
    whole="always",
)
