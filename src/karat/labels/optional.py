"""Optional mentions."""

import numpy as np

from karat.model.tables.columns import Mentions
from karat.model.tables.facet import Facet, single
from karat.spec.grouping import Grouping


def _values(mentions: Mentions) -> Facet:
    return single(mentions.flag("optional").astype(np.int32), ["false", "true"])


GROUPING = Grouping(title="Optional mentions", says="Whether a mention is optional.", carried=_values)
