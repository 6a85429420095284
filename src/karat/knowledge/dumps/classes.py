"""Classes and their superclasses: which types they lead to, and how they are without cycles, as Wikidata is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.tables.arrow import Arrow


def acyclic(pairs: Arrow) -> tuple[Arrow, int]:
    """Pairs (class, superclass) without those that close a cycle, and how many these are.

    Classes that nothing leads to, or that lead nowhere, are on no cycle. They are taken away again and again; of the
    few that are left, those pairs go that lead back to a class on the way.
    """
    if not pairs.num_rows:
        return pairs, 0
    names = pc.unique(pa.chunked_array([*pairs.column(0).chunks, *pairs.column(1).chunks]))
    low, high = (pc.index_in(pairs.column(at), value_set=names).to_numpy() for at in (0, 1))
    keep = low != high
    core = np.flatnonzero(keep)
    while core.size:
        entered, left = np.zeros(len(names), np.bool_), np.zeros(len(names), np.bool_)
        left[low[core]] = True
        entered[high[core]] = True
        inside = entered[low[core]] & left[high[core]]
        if inside.all():
            break
        core = core[inside]
    keep[core[_back(low[core], high[core])]] = False
    return pairs.filter(pa.array(keep)), int((~keep).sum())


def below(pairs: Arrow, types: Sequence[str]) -> dict[str, list[str]]:
    """For each class those of some types that it is, or that pairs (class, superclass) lead to, however many."""
    wanted = pa.array(types, pa.string())
    names = pc.unique(pa.chunked_array([*pairs.column(0).chunks, *pairs.column(1).chunks, wanted]))
    low, high = (pc.index_in(pairs.column(at), value_set=names).to_numpy() for at in (0, 1))
    found: dict[str, list[str]] = {}
    for type in types:
        reached = pc.equal(names, type).to_numpy(zero_copy_only=False)
        while (further := low[reached[high] & ~reached[low]]).size:
            reached[further] = True
        for name in names.filter(pa.array(reached)).to_pylist():
            found.setdefault(name, []).append(type)
    return found


def _back(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The pairs that lead back to a class on the way to them, walking depth first in the order of the pairs."""
    above: dict[int, list[int]] = {}
    for number, one in enumerate(low.tolist()):
        above.setdefault(one, []).append(number)
    back: list[int] = []
    state: dict[int, bool] = {}  # True while on the way, False when done
    for start in above:
        if start in state:
            continue
        state[start] = True
        way = [(start, iter(above[start]))]
        while way:
            one, rest = way[-1]
            pair = next(rest, None)
            if pair is None:
                state[one] = False
                way.pop()
                continue
            other = int(high[pair])
            if state.get(other):
                back.append(pair)
            elif other not in state:
                state[other] = True
                way.append((other, iter(above.get(other, ()))))
    return np.array(back, np.int64)
