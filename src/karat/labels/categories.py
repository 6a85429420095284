"""Categories as written."""

from karat.model.facet import Facet, strings
from karat.model.tables.columns import Mentions
from karat.spec.label import Label


def _values(mentions: Mentions) -> Facet:
    return strings(mentions.field("categories"), len(mentions))


LABEL = Label(
    title="Categories as written",
    says="The categories that mentions carry, as they are written.",
    carried=_values,
    field="categories",
    whole="always",
)
