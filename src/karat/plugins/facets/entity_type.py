"""Entity types."""

from collections.abc import Iterable

import numpy as np

from karat.matching.facts.facts import AnnotationFacts, Facts
from karat.matching.read.pairing import KINDS
from karat.model.items import CodeLists
from karat.model.spec.facet import Facet
from karat.model.tables.facet_values import NONE, FacetValues

_NO_TYPE = frozenset({*KINDS.values(), "OTHER"})


def _compute_values(facts: Facts, annotations: AnnotationFacts) -> FacetValues:
    """Return the types of each mention's entity, from the mention or the knowledge base, with all superclasses.

    `annotations` are the gold labels or the predictions of `facts`. `OTHER`, quantities and datetimes are no types.
    """
    names: dict[str, int] = {NONE: 0}
    superclasses = {} if facts.kb is None else facts.kb.hierarchy.superclasses

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

    index, sets = annotations.type_sets
    lists = [encode_types(types or ()) for types in sets]
    offsets = np.cumsum([0, *map(len, lists)])
    return FacetValues(
        CodeLists(offsets, np.array([code for codes in lists for code in codes], np.int32)).take(index), list(names)
    )


FACET = Facet(
    title="Entity types",
    description="The types of a mention's entity, from the mention or else from the knowledge base, with all "
    "superclasses; coreference is excluded.",
    from_facts=_compute_values,
    excludes_coreference=True,
    example="“Bonn”, linked to a city, is in the group of cities and in the groups of its superclasses.",
)
