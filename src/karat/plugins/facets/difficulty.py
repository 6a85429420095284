"""Difficulty."""

from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import string_values

FACET = Facet(
    title="Difficulty",
    description="The difficulty of a mention in the gold standard.",
    from_mentions=lambda mentions: string_values(mentions.field("difficulty"), len(mentions)),
    field="difficulty",
    needs_context="parts",
    example="A mention with `difficulty: hard` in the gold standard is in the group `hard`.",
)
