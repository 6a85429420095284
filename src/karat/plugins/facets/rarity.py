"""Rarity."""

import numpy as np

from karat.matching.facts.facts import AnnotationFacts, Facts
from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import NONE, FacetValues, single_values
from karat.model.truth import UNKNOWN, YES

_NAMES = ["rare", "popular", "undecided", NONE]


def _compute_values(_: Facts, annotations: AnnotationFacts) -> FacetValues:
    """Return for each mention whether its text is popular for other entities only; coreference has no value."""
    rare = annotations.rare
    codes = np.where(rare == YES, 0, np.where(rare == UNKNOWN, 2, 1))
    return single_values(np.where(annotations.is_coreference, 3, codes), _NAMES)


FACET = Facet(
    title="Rarity",
    description="Whether the text of a mention is most often used for its entity (`popular`), for other entities only "
    "(`rare`), or whether this is unknown (`undecided`). Missed mentions are included; coreference has no value.",
    from_facts=_compute_values,
    uses_gold_group=True,
    example="“Memphis” is most often used for the city in Tennessee. A mention of the city in Egypt is `rare`, whether "
    "a system links it correctly, links it wrongly or misses it.",
)
