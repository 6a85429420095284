"""How many mentions of each document are matched, where nobody asks with whom.

That is the size of a largest matching. For spans it needs no search: of all that are left, the one that ends first is
overlapped by those only that reach its end, so that whatever overlaps the first of them to end overlaps the others too;
it takes that one, and nobody loses. Numba compiles it (the extra `fast`); without it, verdicts are made and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

import msgspec
import numpy as np

from karat.matching.align.joins import on_same_span, overlapping, same_entity, same_span
from karat.matching.read.pairing import Bare
from karat.model.items import Answers, Gold, Items
from karat.model.tables.columns import Floats, Ints, Longs
from karat.spec.relation import Relation

_Side: TypeAlias = tuple[Longs, Ints, Ints, Ints]
"""Where each document begins, and the start, end and entity of its items."""

Kernel: TypeAlias = Callable[[_Side, _Side, int, int, Longs, Longs], None]

_ROWS = {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}
"""Where a kernel writes: by whether spans have to be equal, and links too."""

_END = (1 << 32) - 1  # the half of a span's number that is its end; the upper half is its start
_NONE = 0x7FFFFFFF << 32  # begins behind all spans
_RUN = 32  # numbers that are sorted one by one


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
    if not (countable(relation) and _simple(gold, answers)) or (relation.links and gold.without_link):
        return None
    sides = _laid_out(gold.items, first, last), _laid_out(answers.items, first, last)
    return _weights(kernel, *sides, [relation], 0, last - first)[0]


def counts_at_once(both: Bare, relations: Sequence[Relation], first: int, last: int) -> list[MatchCounts] | None:
    """The weights of some documents under several relations that are `countable`; None where nothing counts them."""
    kernel = compiled()
    return None if kernel is None else counted_at_once_by(kernel, both, relations, first, last)


def counted_at_once_by(
    kernel: Kernel, both: Bare, relations: Sequence[Relation], first: int, last: int
) -> list[MatchCounts]:
    """The same by a certain kernel."""
    return _weights(kernel, _read_only(*both.gold), _read_only(*both.answers), relations, first, last)


def countable(relation: Relation) -> bool:
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


def _laid_out(items: Items, first: int, last: int) -> _Side:
    begins = np.append(0, np.cumsum(np.bincount(items.document - first, minlength=last - first)))
    return _read_only(begins, items.start, items.end, items.entity)


def _read_only(begins: Longs, start: Ints, end: Ints, entity: Ints) -> _Side:
    """Always alike, so that it is compiled once: what comes from files may not be written."""
    own = [np.require(begins, np.int64, "C"), *(np.require(array, np.int32, "C") for array in (start, end, entity))]
    views = [array.view() for array in own]
    for view in views:
        view.flags.writeable = False
    return views[0], views[1], views[2], views[3]


def _weights(
    kernel: Kernel, gold: _Side, answers: _Side, relations: Sequence[Relation], first: int, last: int
) -> list[MatchCounts]:
    golds, answered = (np.diff(side[0][first : last + 1]) for side in (gold, answers))
    found = np.empty((len(_ROWS), last - first), np.int64)
    kernel(gold, answers, first, last, found, np.empty((8, 1 + _most(golds, answered)), np.int64))
    weights = []
    for relation in relations:
        own = np.empty((last - first, 4))
        own[:, 0] = own[:, 2] = found[_ROWS[relation.located is on_same_span, relation.degree is not None]]
        own[:, 1], own[:, 3] = answered - own[:, 0], golds - own[:, 0]
        weights.append(MatchCounts(own))
    return weights


def _most(golds: Longs, answered: Longs) -> int:
    return int(max(golds.max(initial=0), answered.max(initial=0)))


@cache
def compiled() -> Kernel | None:
    """The kernel as machine code, which is kept for the next process; None without Numba."""
    try:
        numba: Any = import_module("numba")
    except ImportError:
        return None
    longs, ints = (numba.types.Array(number, 1, "C", readonly=True) for number in (numba.int64, numba.int32))
    side, table = numba.types.Tuple((longs, ints, ints, ints)), numba.int64[:, ::1]
    takes = numba.void(side, side, numba.int64, numba.int64, table, table)
    try:
        kernel: Kernel = numba.njit(takes, nogil=True, cache=True)(matched)
    except RuntimeError:  # there is no place to keep it
        kernel = numba.njit(takes, nogil=True)(matched)
    return kernel


def matched(gold: _Side, answers: _Side, first: int, last: int, found: Longs, room: Longs) -> None:
    """Write the sizes of largest matchings in the documents from `first` up to `last` into the rows of `found`.

    `room` has eight rows, each with a place more than the largest document has labels or answers. Written for a
    compiler: one function, loops and arrays. A span is one number, of which the start is the upper half.
    """
    gold_first, gold_start, gold_end, gold_id = gold
    answer_first, answer_start, answer_end, answer_id = answers
    golds, gold_ids, given, given_ids = room[0], room[1], room[2], room[3]
    spare, spare_values, open_golds, open_given = room[4], room[5], room[6], room[7]

    def sort(keys: Longs, values: Longs, low: int, high: int) -> None:
        """Sort some keys with their values, equal ones in the order they have; what is in order costs little."""
        for begin in range(low, high, _RUN):
            for i in range(begin + 1, min(begin + _RUN, high)):
                if keys[i] < keys[i - 1]:
                    key, value, at = keys[i], values[i], i
                    while at > begin and keys[at - 1] > key:
                        keys[at], values[at] = keys[at - 1], values[at - 1]
                        at -= 1
                    keys[at], values[at] = key, value
        width = _RUN
        while width < high - low:
            for begin in range(low, high - width, 2 * width):
                right, end = begin + width, min(begin + 2 * width, high)
                if keys[right - 1] > keys[right]:
                    for i in range(width):
                        spare[i], spare_values[i] = keys[begin + i], values[begin + i]
                    left, at = 0, begin
                    while left < width:
                        if right < end and keys[right] < spare[left]:
                            keys[at], values[at] = keys[right], values[right]
                            right += 1
                        else:
                            keys[at], values[at] = spare[left], spare_values[left]
                            left += 1
                        at += 1
            width *= 2

    def push(heap: Longs, size: int, end: int) -> None:
        """Put an end into a heap of so many, of which the smallest comes first."""
        at = size
        while at > 0 and heap[(at - 1) // 2] > end:
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap[at] = end

    def pop(heap: Longs, size: int) -> None:
        """Take the smallest end out of a heap of so many."""
        end, at, below = heap[size - 1], 0, 1
        while below < size:
            if below + 1 < size and heap[below + 1] < heap[below]:
                below += 1
            if heap[below] >= end:
                break
            heap[at] = heap[below]
            at, below = below, 2 * below + 1
        heap[at] = end

    def equal(g: int, last_gold: int, a: int, last_given: int) -> int:
        """How many of some labels and some answers, both in order, can be paired with their like."""
        count = 0
        while g < last_gold and a < last_given:
            one, other = golds[g], given[a]
            count += one == other
            g += one <= other
            a += other <= one
        return count

    def touching(g: int, last_gold: int, a: int, last_given: int) -> int:
        """How many of them can be paired with one that they overlap.

        All that are open overlap each other; before one begins, those that end there take what they can get.
        """
        n = m = count = 0
        while g < last_gold or a < last_given:
            of_gold = a == last_given or (g < last_gold and golds[g] <= given[a])
            span = golds[g] if of_gold else given[a]
            while n + m > 0:
                ends = m == 0 or (n > 0 and open_golds[0] <= open_given[0])  # a label is the first that ends
                if (open_golds[0] if ends else open_given[0]) > span >> 32:
                    break
                both = n > 0 and m > 0
                if ends or both:
                    pop(open_golds, n)
                    n -= 1
                if both or not ends:
                    pop(open_given, m)
                    m -= 1
                count += both
            if of_gold:
                push(open_golds, n, span & _END)
                n += 1
                g += 1
            else:
                push(open_given, m, span & _END)
                m += 1
                a += 1
        return count + min(n, m)

    for d in range(first, last):
        begin, n = gold_first[d], gold_first[d + 1] - gold_first[d]
        for i in range(n):
            golds[i] = (np.int64(gold_start[begin + i]) << 32) | np.int64(gold_end[begin + i])
            gold_ids[i] = gold_id[begin + i]
        begin, m = answer_first[d], answer_first[d + 1] - answer_first[d]
        for i in range(m):
            given[i] = (np.int64(answer_start[begin + i]) << 32) | np.int64(answer_end[begin + i])
            given_ids[i] = answer_id[begin + i]
        sort(golds, gold_ids, 0, n)
        sort(given, given_ids, 0, m)
        golds[n] = given[m] = _NONE
        strong = mention = weak = place = 0
        g = a = 0
        while g < n and a < m:
            one, other = golds[g], given[a]
            if one & _END <= other >> 32:
                g += 1
                continue
            if other & _END <= one >> 32:
                a += 1
                continue
            reach = max(one & _END, other & _END)
            if golds[g + 1] >> 32 >= reach and given[a + 1] >> 32 >= reach:  # the two are alone
                alike = gold_ids[g] == given_ids[a]
                strong += alike and one == other
                mention += one == other
                weak += alike
                place += 1
                g += 1
                a += 1
                continue
            h, b = g + 1, a + 1
            while golds[h] >> 32 < reach or given[b] >> 32 < reach:
                if golds[h] >> 32 < reach:
                    reach = max(reach, golds[h] & _END)
                    h += 1
                else:
                    reach = max(reach, given[b] & _END)
                    b += 1
            same = equal(g, h, a, b)
            mention += same
            place += same if same == min(h - g, b - a) else touching(g, h, a, b)
            sort(gold_ids, golds, g, h)
            sort(given_ids, given, a, b)
            while g < h:  # one entity after the other
                id, i = gold_ids[g], g
                while i < h and gold_ids[i] == id:
                    i += 1
                while a < b and given_ids[a] < id:
                    a += 1
                j = a
                while j < b and given_ids[j] == id:
                    j += 1
                if a < j:
                    same = equal(g, i, a, j)
                    strong += same
                    weak += same if same == min(i - g, j - a) else touching(g, i, a, j)
                g, a = i, j
            a = b
        at = d - first
        found[0, at], found[1, at], found[2, at], found[3, at] = strong, mention, weak, place
