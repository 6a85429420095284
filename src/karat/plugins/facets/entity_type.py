"""Entity types."""

import re
from collections.abc import Iterable
from typing import Final

import numpy as np

from karat.matching.facts.facts import AnnotationFacts, Facts
from karat.matching.read.pairing import KINDS
from karat.model.items import CodeLists
from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import NONE, FacetValues

_QID: Final = re.compile(r"Q[1-9]\d*", re.ASCII)
_NO_TYPE = frozenset({*KINDS.values(), "OTHER"})


def _compute_values(facts: Facts | None, annotations: AnnotationFacts) -> FacetValues:
    """Return the types of each mention's entity, from the mention or the knowledge base, with all superclasses.

    Types of mentions that are no QIDs, such as PER, are not used if those of the knowledge base are: gold labels and
    predictions would be in different groups.
    `annotations` are the gold labels or the predictions of `facts`, or labels without `facts`. `OTHER`, quantities and
    datetimes are no types.
    """
    names: dict[str, int] = {NONE: 0}
    sides = (annotations,) if facts is None else (facts.gold, facts.predictions)
    superclasses = annotations.superclasses

    def encode_types(types: Iterable[str]) -> list[int]:
        """Return the codes of some types and of all their superclasses; adds new types to `names`."""
        all_types: set[str] = set()
        pending = [kind for kind in types if kind not in _NO_TYPE]
        while pending:
            kind = pending.pop()
            if kind not in all_types:
                all_types.add(kind)
                pending.extend(superclasses.get(kind, ()))
        return [names.setdefault(kind, len(names)) for kind in sorted(all_types)] or [0]

    index, sets = annotations.entity_type_sets if _has_other_types(*sides) else annotations.type_sets
    lists = [encode_types(types or ()) for types in sets]
    offsets = np.cumsum([0, *map(len, lists)])
    return FacetValues(
        CodeLists(offsets, np.array([code for codes in lists for code in codes], np.int32)).take(index), list(names)
    )


def _has_other_types(gold: AnnotationFacts, *predictions: AnnotationFacts) -> bool:
    """Return whether the knowledge base has QIDs as types, and the gold standard others."""
    column = gold.mentions.field("types")
    own_types = set() if column is None else set(column.flatten().unique().to_pylist()) - _NO_TYPE
    kb_types = {kind for side in (gold, *predictions) for types in side.entities.types for kind in types or ()}
    return any(map(_QID.fullmatch, kb_types)) and bool(own_types) and not any(map(_QID.fullmatch, own_types))


FACET = Facet(
    title="Entity types",
    description="The types of a mention's entity, from the mention or else from the knowledge base, with all "
    "superclasses; coreference is excluded. Types such as PER are not used if the knowledge base has QIDs.",
    from_facts=_compute_values,
    has_ids=True,
    excludes_coreference=True,
    example="“Bonn”, linked to a city, is in the group of cities and in the groups of its superclasses.",
)
