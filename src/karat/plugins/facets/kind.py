"""Mention kinds."""

from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import string_values

FACET = Facet(
    title="Mention kinds",
    description="The kind of a mention: quantity, datetime, coreference or description.",
    from_mentions=lambda mentions: string_values(mentions.field("kind"), len(mentions)),
    field="kind",
    needs_context="parts",
    example="“3 May 2021” with the kind datetime is in the group `datetime`.",
)
