"""How many mentions of each document are matched, where nobody asks with whom.

That is the size of a largest matching. For spans it needs no search: of all that are left, the one that ends first is
overlapped by those only that reach its end, so that whatever overlaps the shortest of them overlaps the others too; it
takes that one, and nobody loses. Numba compiles it (the extra `fast`); without it, verdicts are made and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

import msgspec
import numpy as np

from karat.matching.align.joins import on_same_span, overlapping, same_entity, same_span
from karat.model.items import Answers, Gold, Items
from karat.model.tables.columns import Floats, Ints, Longs
from karat.spec.relation import Relation

_Side: TypeAlias = tuple[Longs, Ints, Ints, Ints]
"""Where each document begins, and the start, end and entity of its items."""

Kernel: TypeAlias = Callable[[_Side, _Side, bool, bool], Longs]

_SMALL = 64  # items that are sorted one by one
_STEPS = 64  # that a mention takes on average before a document is too crowded


class MatchCounts(msgspec.Struct, frozen=True):
    """What verdicts add up to, without them."""

    weights: Floats

    def per_document(self, first: int, last: int) -> Floats:
        """The weights of each document from `first` up to `last`, which are all there are."""
        assert len(self.weights) == last - first
        return self.weights


def counts(gold: Gold, answers: Answers, relation: Relation, first: int, last: int) -> MatchCounts | None:
    """The weights of some documents under an optimal assignment; None where they have to be judged."""
    kernel = compiled()
    return None if kernel is None else counted_by(kernel, gold, answers, relation, first, last)


def counted_by(
    kernel: Kernel, gold: Gold, answers: Answers, relation: Relation, first: int, last: int
) -> MatchCounts | None:
    """The same by a certain kernel."""
    if not (_simple(gold, answers) and _plain(relation)) or (relation.links and gold.without_link):
        return None
    sides = [_side(items, first, last) for items in (gold.items, answers.items)]
    matched = kernel(sides[0], sides[1], relation.located is on_same_span, relation.degree is not None)
    if len(matched) and matched[-1] < 0:
        return None
    golds, answered = (np.diff(side[0]) for side in sides)
    return MatchCounts(np.column_stack([matched, answered - matched, matched, golds - matched]).astype(np.float64))


def _plain(relation: Relation) -> bool:
    """Whether a relation looks at spans and first ids only, and a match is right or is none."""
    placed = (relation.located, relation.place) in ((on_same_span, same_span), (overlapping, None))
    judged = relation.degree in (None, same_entity) and not relation.graded and relation.credit is None
    return placed and judged and relation.level == "mention" and not relation.typed


def _simple(gold: Gold, answers: Answers) -> bool:
    """Whether every label is a mention that counts, and no item says more than a span and one id."""
    if gold.tied or gold.segmented or gold.optional.any():
        return False
    return all(
        more is None
        for items in (gold.items, answers.items)
        for more in (items.same_as, items.words, items.kind, items.outside)
    )


def _side(items: Items, first: int, last: int) -> _Side:
    begins = np.append(0, np.cumsum(np.bincount(items.document - first, minlength=last - first)))
    start, end, entity = (np.require(x, np.int32, ["C", "W"]) for x in (items.start, items.end, items.entity))
    return begins, start, end, entity  # always alike, so that it is compiled once


@cache
def compiled() -> Kernel | None:
    """The kernel as machine code, which is kept for the next process; None without Numba."""
    try:
        numba: Any = import_module("numba")
    except ImportError:
        return None
    try:
        kernel: Kernel = numba.njit(nogil=True, cache=True)(matched)
    except RuntimeError:  # there is no place to keep it
        kernel = numba.njit(nogil=True)(matched)
    return kernel


def matched(gold: _Side, answers: _Side, exact: bool, links: bool) -> Longs:
    """The size of a largest matching in each document; the last is -1 where one is too crowded to say.

    Written for a compiler: one function, loops and arrays.
    """
    gold_first, gold_start, gold_end, gold_id = gold
    answer_first, answer_start, answer_end, answer_id = answers
    documents = len(gold_first) - 1
    found = np.zeros(documents, np.int64)
    largest = 0
    for d in range(documents):
        largest = max(largest, gold_first[d + 1] - gold_first[d], answer_first[d + 1] - answer_first[d])
    order = np.empty((2, largest), np.int64)  # by end, the smallest first
    earliest = np.empty((2, largest + 1), np.int64)  # where what comes from here on begins at the earliest
    taken = np.empty((2, largest), np.bool_)
    size = np.empty(2, np.int64)
    for d in range(documents):
        for side in range(2):
            begin = gold_first[d] if side == 0 else answer_first[d]
            size[side] = (gold_first[d + 1] if side == 0 else answer_first[d + 1]) - begin
            start, end = (gold_start, gold_end) if side == 0 else (answer_start, answer_end)
            n = size[side]
            if n > _SMALL:
                order[side, :n] = begin + np.argsort(end[begin : begin + n], kind="mergesort")
            else:
                for i in range(n):
                    place = i
                    while place > 0 and end[order[side, place - 1]] > end[begin + i]:
                        order[side, place] = order[side, place - 1]
                        place -= 1
                    order[side, place] = begin + i
            taken[side, :n] = False
            earliest[side, n] = np.iinfo(np.int64).max
            for i in range(n - 1, -1, -1):
                earliest[side, i] = min(earliest[side, i + 1], start[order[side, i]])
        g = a = 0
        left = _STEPS * (size[0] + size[1] + _STEPS)
        while g < size[0] and a < size[1]:
            if taken[0, g]:
                g += 1
                continue
            if taken[1, a]:
                a += 1
                continue
            one, other = order[0, g], order[1, a]
            of_gold = gold_end[one] <= answer_end[other]
            if of_gold:
                s, e, id, at, side, n = gold_start[one], gold_end[one], gold_id[one], a, 1, size[1]
                g += 1
            else:
                s, e, id, at, side, n = answer_start[other], answer_end[other], answer_id[other], g, 0, size[0]
                a += 1
            while at < n and earliest[side, at] < e:
                item = order[side, at]
                if side == 1:
                    its_start, its_end, its_id = answer_start[item], answer_end[item], answer_id[item]
                else:
                    its_start, its_end, its_id = gold_start[item], gold_end[item], gold_id[item]
                if exact and its_end > e:
                    break
                left -= 1
                fits = its_start == s if exact else its_start < e
                if fits and not taken[side, at] and (its_id == id or not links):
                    taken[side, at] = True
                    found[d] += 1
                    break
                at += 1
            if left < 0:
                found[-1] = -1
                return found
    return found
