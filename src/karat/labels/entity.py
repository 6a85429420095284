"""Entities."""

import numpy as np

from karat.model.facet import NONE, Facet, single
from karat.model.tables.columns import Mentions
from karat.spec.label import Label


def _values(mentions: Mentions) -> Facet:
    codes = np.where(mentions.entity < 0, len(mentions.names) - 1 - mentions.entity, mentions.entity)
    return single(codes, [*mentions.names.to_pylist(), "NIL", NONE])


LABEL = Label(title="Entities", says="The entity that a mention is linked to.", carried=_values, whole="parts")
