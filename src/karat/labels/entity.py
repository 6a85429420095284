"""Entities."""

import numpy as np

from karat.model.tables.columns import Mentions
from karat.model.tables.facet import NONE, Facet, single
from karat.spec.grouping import Grouping


def _values(mentions: Mentions) -> Facet:
    codes = np.where(mentions.entity < 0, len(mentions.names) - 1 - mentions.entity, mentions.entity)
    return single(codes, [*mentions.names.to_pylist(), "NIL", NONE])


GROUPING = Grouping(title="Entities", says="The entity that a mention is linked to.", carried=_values, whole="parts")
