"""Mention kinds."""

from karat.model.spec.facet import Facet
from karat.model.tables.columns import Mentions
from karat.model.tables.facet_values import FacetValues, string_values


def _read_values(mentions: Mentions) -> FacetValues:
    """Return the `kind` of each mention."""
    return string_values(mentions.field("kind"), len(mentions))


FACET = Facet(
    title="Mention kinds",
    description="The kind of a mention: quantity, datetime, coreference or description.",
    from_mentions=_read_values,
    field="kind",
    needs_context="parts",
)
