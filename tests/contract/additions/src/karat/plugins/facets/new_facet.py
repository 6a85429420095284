"""A made-up facet."""

import numpy as np

from karat.model.spec.facet import Facet
from karat.model.tables.columns import Mentions
from karat.model.tables.facet_values import FacetValues, single_values


def _read_values(mentions: Mentions) -> FacetValues:
    """Return for each of `mentions` whether its offset is even or odd."""
    return single_values(np.asarray(mentions.start) % 2, ["even", "odd"])


FACET = Facet(title="Made up", description="Whether the offset is even or odd.", from_mentions=_read_values)
