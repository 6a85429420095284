"""Categories with the inner nodes of the scheme."""

from karat.model.tables.columns import Mentions
from karat.model.tables.facet import Facet, strings, with_inner
from karat.spec.grouping import Grouping


def _values(mentions: Mentions) -> Facet:
    return with_inner(strings(mentions.field("categories"), len(mentions)))


GROUPING = Grouping(
    title="Categories",
    says="The categories that mentions carry, with the inner nodes of the fine-grained scheme: a full name is a proper "
    "form too.",
    carried=_values,
    whole="always",
)
