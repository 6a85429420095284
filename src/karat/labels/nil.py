"""NIL."""

import numpy as np

from karat.model.tables.columns import NIL, NO_LINK, Mentions
from karat.model.tables.facet import NONE, Facet, single
from karat.spec.grouping import Grouping


def _values(mentions: Mentions) -> Facet:
    codes = np.where(mentions.entity == NIL, 0, np.where(mentions.entity == NO_LINK, 2, 1))
    return single(codes, ["true", "false", NONE])


GROUPING = Grouping(title="NIL", says="Whether a mention is linked to NIL; none where it has no link.", carried=_values)
