"""The graph of classes and superclasses: removal of cycles, which Wikidata has, and the types above each class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.tables.arrow import Arrow


def remove_cycles(pairs: Arrow) -> tuple[Arrow, int]:
    """Return pairs (class, superclass) without those that close a cycle, and the number of removed pairs.

    `pairs`: Arrow table with two columns. Classes without subclasses or without superclasses are on no cycle and are
    set aside repeatedly. In the small rest, a depth-first search removes the pairs that lead back to a class on the
    current path.
    """
    if not pairs.num_rows:
        return pairs, 0
    names = pc.unique(pa.chunked_array([*pairs.column(0).chunks, *pairs.column(1).chunks]))
    subclass_codes, superclass_codes = (
        pc.index_in(pairs.column(column), value_set=names).to_numpy() for column in (0, 1)
    )
    is_kept = subclass_codes != superclass_codes
    core = np.flatnonzero(is_kept)
    while core.size:
        has_subclass, has_superclass = np.zeros(len(names), np.bool_), np.zeros(len(names), np.bool_)
        has_superclass[subclass_codes[core]] = True
        has_subclass[superclass_codes[core]] = True
        is_inside = has_subclass[subclass_codes[core]] & has_superclass[superclass_codes[core]]
        if is_inside.all():
            break
        core = core[is_inside]
    is_kept[core[_find_back_edges(subclass_codes[core], superclass_codes[core])]] = False
    return pairs.filter(pa.array(is_kept)), int((~is_kept).sum())


def find_types_above(pairs: Arrow, types: Sequence[str]) -> dict[str, list[str]]:
    """Return, for each class, the members of `types` among the class itself and all its superclasses.

    `pairs`: Arrow table with two columns, possibly with cycles. Classes without such a type are omitted.
    """
    type_array = pa.array(types, pa.string())
    names = pc.unique(pa.chunked_array([*pairs.column(0).chunks, *pairs.column(1).chunks, type_array]))
    subclass_codes, superclass_codes = (
        pc.index_in(pairs.column(column), value_set=names).to_numpy() for column in (0, 1)
    )
    types_by_class: dict[str, list[str]] = {}
    for type in types:
        is_reached = pc.equal(names, type).to_numpy(zero_copy_only=False)
        while (newly_reached := subclass_codes[is_reached[superclass_codes] & ~is_reached[subclass_codes]]).size:
            is_reached[newly_reached] = True
        for name in names.filter(pa.array(is_reached)).to_pylist():
            types_by_class.setdefault(name, []).append(type)
    return types_by_class


def _find_back_edges(subclass_codes: np.ndarray, superclass_codes: np.ndarray) -> np.ndarray:
    """Return the indexes of pairs that lead back to a class on the current path of a depth-first search."""
    edges_by_class: dict[int, list[int]] = {}
    for edge, cls in enumerate(subclass_codes.tolist()):
        edges_by_class.setdefault(cls, []).append(edge)
    back_edges: list[int] = []
    is_on_path: dict[int, bool] = {}  # True on the current path, False when finished
    for start in edges_by_class:
        if start in is_on_path:
            continue
        is_on_path[start] = True
        path = [(start, iter(edges_by_class[start]))]
        while path:
            cls, rest = path[-1]
            pair = next(rest, None)
            if pair is None:
                is_on_path[cls] = False
                path.pop()
                continue
            superclass = int(superclass_codes[pair])
            if is_on_path.get(superclass):
                back_edges.append(pair)
            elif superclass not in is_on_path:
                is_on_path[superclass] = True
                path.append((superclass, iter(edges_by_class.get(superclass, ()))))
    return np.array(back_edges, np.int64)
