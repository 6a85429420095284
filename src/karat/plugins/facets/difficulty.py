"""Difficulty."""

from karat.model.spec.facet import Facet
from karat.model.tables.columns import Mentions
from karat.model.tables.facet_values import FacetValues, string_values


def _read_values(mentions: Mentions) -> FacetValues:
    """Return the `difficulty` of each mention."""
    return string_values(mentions.field("difficulty"), len(mentions))


FACET = Facet(
    title="Difficulty",
    description="The difficulty of a mention in the gold standard.",
    from_mentions=_read_values,
    field="difficulty",
    needs_context="parts",
)
