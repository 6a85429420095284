"""NIL."""

import numpy as np

from karat.model.spec.facet import Facet
from karat.model.tables.columns import NIL, NO_LINK, Mentions
from karat.model.tables.facet_values import NONE, FacetValues, single_values


def _read_values(mentions: Mentions) -> FacetValues:
    """Return for each mention whether it is linked to NIL: `true`, `false`, or no value if it is unlinked."""
    codes = np.where(mentions.entity == NIL, 0, np.where(mentions.entity == NO_LINK, 2, 1))
    return single_values(codes, ["true", "false", NONE])


FACET = Facet(
    title="NIL",
    description="Whether a mention is linked to NIL; no value for unlinked mentions.",
    from_mentions=_read_values,
    example="A person without an entry in the knowledge base is in the group `true`.",
)
