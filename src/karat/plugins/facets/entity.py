"""Entities."""

import numpy as np

from karat.model.spec.facet import Facet
from karat.model.tables.columns import Mentions
from karat.model.tables.facet_values import NONE, FacetValues, single_values


def _read_values(mentions: Mentions) -> FacetValues:
    """Return the entity id of each mention, or `NIL`, or no value if it is unlinked."""
    codes = np.where(mentions.entity < 0, len(mentions.names) - 1 - mentions.entity, mentions.entity)
    return single_values(codes, [*mentions.names.to_pylist(), "NIL", NONE])


FACET = Facet(
    title="Entities",
    description="The linked entity of a mention.",
    from_mentions=_read_values,
    has_ids=True,
    needs_context="parts",
    example="“Big Apple”, linked to New York City (Q60), is in the group `Q60`.",
)
