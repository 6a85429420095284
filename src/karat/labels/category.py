"""Categories with the inner nodes of the scheme."""

from karat.model.facet import Facet, strings, with_inner
from karat.model.tables.columns import Mentions
from karat.spec.label import Label


def _values(mentions: Mentions) -> Facet:
    return with_inner(strings(mentions.field("categories"), len(mentions)))


LABEL = Label(
    title="Categories",
    says="The categories that mentions carry, with the inner nodes of the fine-grained scheme: a full name is a proper "
    "form too.",
    carried=_values,
    whole="always",
)
