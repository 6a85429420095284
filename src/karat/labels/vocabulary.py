"""The system's vocabulary."""

import numpy as np

from karat.facts.facts import Facts, Side
from karat.model.tables.facet import NONE, Facet, single
from karat.spec.grouping import Grouping

_VALUES = {True: 0, False: 1, None: 2}
_NAMES = ["inside", "outside", "undecided", NONE]


def _values(facts: Facts, side: Side) -> Facet:
    """An entity with several ids is inside by any of them; NIL and spans without link have none."""
    codes = np.array([*(_VALUES[there] for there in facts.answerable), 3, 3])
    found = codes[side.entity]
    for row, further in side.further.items():
        found[row] = min(found[row], codes[further].min())
    return single(found, _NAMES)


GROUPING = Grouping(
    title="The system's vocabulary",
    says="Whether a mention's entity is one that the system can answer with (`inside`), is none (`outside`), or nobody "
    "can say: by the file of ids, or the pack, that the manifest of its answers names as `vocabulary`.",
    known=_values,
    by_gold=True,
    by_facts=False,
)
