"""Types of entities."""

from collections.abc import Iterable

import numpy as np
import pyarrow.compute as pc

from karat.facts.facts import Facts, Side
from karat.matching.read.pairing import KINDS
from karat.model.facet import NONE, Facet
from karat.model.items import Lists
from karat.spec.label import Label

_NO_TYPE = frozenset({*KINDS.values(), "OTHER"})
_BETWEEN = "\x1f"  # stands in no id


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

    # Few sets of types occur, so that each is looked at once.
    places: dict[frozenset[str] | None, int] = {}
    by_entity = [places.setdefault(types, len(places)) for types in facts.types]
    place = np.array([*by_entity, len(places), len(places)], np.int64)[side.entity]  # links to NIL come last
    lists = [*(codes(types or ()) for types in places), [0]]
    given = side.mentions.field("types")
    if given is not None:
        joined = pc.binary_join(given, _BETWEEN).dictionary_encode()
        own = joined.indices.fill_null(0).to_numpy()
        typed = given.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) > 0
        place = np.where(typed, len(lists) + own, place)
        lists += [codes(types.split(_BETWEEN)) for types in joined.dictionary.to_pylist()]
    offsets = np.cumsum([0, *map(len, lists)])
    return Facet(Lists(offsets, np.array([code for each in lists for code in each], np.int32)).take(place), list(names))


LABEL = Label(
    title="Types of entities",
    says="The types of a mention's entity, its own or those that the knowledge base knows, with all classes above; "
    "coreference is left out.",
    known=_values,
    entities=True,
)
