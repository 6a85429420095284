"""Optional mentions."""

import numpy as np

from karat.model.spec.facet import Facet
from karat.model.tables.columns import Mentions
from karat.model.tables.facet_values import FacetValues, single_values


def _read_values(mentions: Mentions) -> FacetValues:
    """Return for each mention whether it is optional: `true` or `false`."""
    return single_values(mentions.boolean_field("optional").astype(np.int32), ["false", "true"])


FACET = Facet(
    title="Optional mentions",
    description="Whether a mention is optional.",
    from_mentions=_read_values,
    example="A date that a system may link, but need not link, is in the group `true`.",
)
