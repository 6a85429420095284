"""Mention types."""

import numpy as np

from karat.facts.facts import MENTION_TYPES, Facts, Side
from karat.model.items import Lists
from karat.model.tables.facet import Facet
from karat.spec.grouping import Grouping

_ROLLED_UP = ("entity", "coreference")


def _values(_: Facts, side: Side) -> Facet:
    """What each mention is, in detail and on the whole."""
    codes = side.mention_type
    whole = len(MENTION_TYPES) + np.array([kind.startswith("coreference") for kind in MENTION_TYPES])[codes]
    values = np.column_stack([codes, whole]).reshape(-1).astype(np.int32)
    return Facet(Lists(np.arange(0, 2 * len(codes) + 1, 2), values), [*MENTION_TYPES, *_ROLLED_UP])


GROUPING = Grouping(
    title="Mention types",
    says="What a mention is by its text and by the name of its entity: an entity, named or not or unknown, or a "
    "coreference, nominal or pronominal.",
    known=_values,
    by_gold=True,
    possible=(*MENTION_TYPES, *_ROLLED_UP),
    column="mention_type",
)
