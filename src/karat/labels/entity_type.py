"""Types of entities."""

from collections.abc import Iterable

import numpy as np

from karat.facts.facts import Facts, Side
from karat.matching.read.pairing import KINDS
from karat.model.items import Lists
from karat.model.tables.facet import NONE, Facet
from karat.spec.grouping import Grouping

_NO_TYPE = frozenset({*KINDS.values(), "OTHER"})


def _values(facts: Facts, side: Side) -> Facet:
    """The types of each mention's entity, its own or those the knowledge base knows, and all classes above them."""
    names: dict[str, int] = {NONE: 0}
    above = {} if facts.kb is None else facts.kb.hierarchy.superclasses

    def codes(types: Iterable[str]) -> list[int]:
        every: set[str] = set()
        waiting = [kind for kind in types if kind not in _NO_TYPE]
        while waiting:
            kind = waiting.pop()
            if kind not in every:
                every.add(kind)
                waiting.extend(above.get(kind, ()))
        return [names.setdefault(kind, len(names)) for kind in sorted(every)] or [0]

    place, sets = side.type_sets
    lists = [codes(types or ()) for types in sets]
    offsets = np.cumsum([0, *map(len, lists)])
    return Facet(Lists(offsets, np.array([code for each in lists for code in each], np.int32)).take(place), list(names))


GROUPING = Grouping(
    title="Types of entities",
    says="The types of a mention's entity, its own or those that the knowledge base knows, with all classes above; "
    "coreference is left out.",
    known=_values,
    entities=True,
)
