"""Cases by the values of a label: a fold over verdicts that adds up over blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.model.tables.columns import Floats, Longs
from karat.model.tables.facet import Facet
from karat.model.verdict import Verdicts


class Values(NamedTuple):
    """The values of a label on both sides.

    Unmatched answers are credited to the answer's values, or to those of the mention they met; all else to the gold's.
    A case with several values counts under each.
    """

    name: str
    gold: Facet
    answers: Facet


class Cut(NamedTuple):
    """The cases of a view by value and document: the weights of each, and where the rows of a value end."""

    names: list[str]
    document: Longs
    sums: NDArray[Any]
    ends: Longs

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """The first row of each value, and the one behind its last."""
        ends = self.ends.tolist()
        return list(zip([0, *ends][:-1], ends, strict=True))


def cut_cases(values: Values, cases: Sequence[Verdicts], *, by_gold: bool) -> list[Cut]:
    """The cases of several views, all at once: a label has few values, and each step takes its time whatever there is.

    The weights of unmatched answers go to the mention's value if `by_gold`.
    """
    gold, answer = (np.concatenate(sides) for sides in ([c.gold for c in cases], [c.answer for c in cases]))
    weights = np.concatenate([c.weights() for c in cases])
    view = np.repeat(np.arange(len(cases)), [len(c) for c in cases])
    document = np.concatenate([c.document for c in cases]).astype(np.int64)
    to_gold, to_answer = weights.copy(), np.zeros_like(weights)
    own_side = (gold < 0) if by_gold else np.ones(len(weights), np.bool_)
    to_answer[own_side, 1], to_gold[own_side, 1] = weights[own_side, 1], 0
    names = sorted({*values.gold.names, *values.answers.names})
    place = {name: code for code, name in enumerate(names)}
    rows: list[tuple[Longs, Floats]] = []
    for side, own, share in ((gold, values.gold, to_gold), (answer, values.answers, to_answer)):
        counts = np.flatnonzero((side >= 0) & share.any(axis=1))
        picked = own.lists.take(side[counts])
        case = np.repeat(counts, np.diff(picked.offsets))
        code = np.array([place[name] for name in own.names], np.int64)[picked.values]
        rows.append((((view[case] * len(names) + code) << 32) | document[case], share[case]))
    key, share = (np.concatenate(column) for column in zip(*rows, strict=True))
    keys, group = np.unique(key, return_inverse=True)
    sums: Floats = np.column_stack([np.bincount(group, share[:, i], len(keys)) for i in range(share.shape[1])])
    found, begin = np.unique(keys >> 32, return_index=True)
    ends = np.append(begin[1:], len(keys)) if len(found) else begin
    first = np.searchsorted(found, np.arange(len(cases) + 1) * len(names))
    cuts = []
    for low, high in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        begin_row = int(begin[low]) if low < high else 0
        end_row = int(ends[high - 1]) if low < high else 0
        own_names = [names[code] for code in (found[low:high] % max(1, len(names))).tolist()]
        own_rows = slice(begin_row, end_row)
        cuts.append(Cut(own_names, keys[own_rows] & 0xFFFFFFFF, sums[own_rows], ends[low:high] - begin_row))
    return cuts


def joined_cuts(parts: Sequence[tuple[Cut, Longs]]) -> Cut:
    """The cuts of several blocks as one; with each go the places of its documents in the whole."""
    if len(parts) == 1:
        return parts[0][0]
    found: dict[str, list[tuple[Longs, NDArray[Any]]]] = {}
    for cut, place in parts:
        for name, (low, high) in zip(cut.names, cut.bounds, strict=True):
            found.setdefault(name, []).append((place[cut.document[low:high]], cut.sums[low:high]))
    documents, sums = [np.zeros(0, np.int64)], [np.zeros((0, 4))]
    for name in sorted(found):
        document = np.concatenate([place for place, _ in found[name]])
        order = np.argsort(document)
        documents.append(document[order])
        sums.append(np.concatenate([share for _, share in found[name]]).astype(np.float64)[order])
    ends = np.cumsum([len(each) for each in documents[1:]], dtype=np.int64)
    return Cut(sorted(found), np.concatenate(documents), np.concatenate(sums), ends)
