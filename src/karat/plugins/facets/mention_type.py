"""Mention types."""

import numpy as np

from karat.matching.facts.facts import MENTION_TYPES, AnnotationFacts, Facts
from karat.model.items import CodeLists
from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import FacetValues

_COARSE_TYPES = ("entity", "coreference")


def _compute_values(_: Facts, annotations: AnnotationFacts) -> FacetValues:
    """Return two values for each mention: its mention type, and whether that is an entity or coreference."""
    codes = annotations.mention_type
    coarse = len(MENTION_TYPES) + np.array([kind.startswith("coreference") for kind in MENTION_TYPES])[codes]
    values = np.column_stack([codes, coarse]).reshape(-1).astype(np.int32)
    return FacetValues(CodeLists(np.arange(0, 2 * len(codes) + 1, 2), values), [*MENTION_TYPES, *_COARSE_TYPES])


FACET = Facet(
    title="Mention types",
    description="The type of a mention by its text and the name of its entity: entity (named, non-named or unknown) "
    "or coreference (nominal or pronominal).",
    from_facts=_compute_values,
    uses_gold_group=True,
    allowed_values=(*MENTION_TYPES, *_COARSE_TYPES),
    column="mention_type",
    example="In “Merkel said she was glad”, “Merkel” is in the groups `entity-named` and `entity`, and “she” is in the "
    "groups `coreference-pronominal` and `coreference`.",
)
