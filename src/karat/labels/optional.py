"""Optional mentions."""

import numpy as np

from karat.model.facet import Facet, single
from karat.model.tables.columns import Mentions
from karat.spec.label import Label


def _values(mentions: Mentions) -> Facet:
    return single(mentions.flag("optional").astype(np.int32), ["false", "true"])


LABEL = Label(title="Optional mentions", says="Whether a mention is optional.", carried=_values)
