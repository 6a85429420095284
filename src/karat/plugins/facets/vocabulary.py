"""Vocabulary of the system."""

import numpy as np

from karat.matching.facts.facts import AnnotationFacts, Facts
from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import NONE, FacetValues, single_values

_VALUES = {True: 0, False: 1, None: 2}
_NAMES = ["inside", "outside", "undecided", NONE]


def _compute_values(facts: Facts, annotations: AnnotationFacts) -> FacetValues:
    """Return for each mention whether its entity is in the system's vocabulary: `inside`, `outside` or `undecided`.

    An entity is inside if one of its ids is. Mentions that are unlinked or linked to NIL have no value.
    """
    codes = np.array([*(_VALUES[is_inside] for is_inside in facts.is_in_vocabulary), 3, 3])
    values = codes[annotations.entity]
    for row, further in annotations.further_codes.items():
        values[row] = min(values[row], codes[further].min())
    return single_values(values, _NAMES)


FACET = Facet(
    title="System vocabulary",
    description="Whether the system can predict a mention's entity (`inside`), cannot (`outside`), or this is unknown "
    "(`undecided`). The manifest of the predictions names a file of ids or a snapshot as `vocabulary`.",
    from_facts=_compute_values,
    uses_gold_group=True,
    needs_facts=False,
    example="If the system knows only the entities of an old Wikipedia, a mention of a younger entity is in the group "
    "`outside`.",
)
