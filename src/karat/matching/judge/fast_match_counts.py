"""Numbers of matches per document, without verdicts on single cases.

The number is the size of a largest matching, which needs no search for spans: of all remaining spans, the one that
ends first overlaps only spans that reach its end. Every span that overlaps the first-ending of those also overlaps
the others, so matching these two loses nothing. Numba compiles the kernel (extra `fast`); without Numba, verdicts
are made and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

import msgspec
import numpy as np

from karat.matching.align.overlap import find_overlaps, find_same_spans, same_entity, same_span
from karat.matching.read.pairing import SpanArrays
from karat.model.items import GoldItems, Items, PredictedItems
from karat.model.spec.relation import MatchRelation
from karat.model.tables.columns import Floats, Ints, Longs

_Side: TypeAlias = tuple[Longs, Ints, Ints, Ints]
"""Offsets of the documents, and start, end and entity of each item."""

Kernel: TypeAlias = Callable[[_Side, _Side, int, int, Longs, Longs], None]
"""Function that writes the sizes of the largest matchings of some documents into an array."""

_KERNEL_ROWS = {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}
"""Row of the kernel's output, by whether spans must be equal and whether links must be equal."""

_END_MASK = (1 << 32) - 1  # lower half of a span's number: its end; the upper half is its start
_NO_SPAN = 0x7FFFFFFF << 32  # starts after all spans
_SORT_RUN = 32  # numbers that are sorted by insertion


class MatchCounts(msgspec.Struct, frozen=True):
    """Sums of verdicts per document, without the verdicts."""

    weights: Floats
    """Weights of each document, as `Verdicts.document_sums` returns them."""

    def document_sums(self, first_doc: int, end_doc: int) -> Floats:
        """Return the sums of the four `Weights`, one row per document, like `Verdicts.document_sums`.

        The documents from `first_doc` to before `end_doc` must be the documents that were counted.
        """
        assert len(self.weights) == end_doc - first_doc
        return self.weights


def count_matches(
    gold: GoldItems, predictions: PredictedItems, relation: MatchRelation, first_doc: int, end_doc: int
) -> MatchCounts | None:
    """Count matches, wrong predictions and missed labels of each document under an optimal assignment.

    The documents are `first_doc` to before `end_doc`. Return None if verdicts are needed instead: without Numba, or if
    the relation or the items are not simple enough.
    """
    kernel = compile_kernel()
    return None if kernel is None else count_matches_with(kernel, gold, predictions, relation, first_doc, end_doc)


def count_matches_with(
    kernel: Kernel, gold: GoldItems, predictions: PredictedItems, relation: MatchRelation, first_doc: int, end_doc: int
) -> MatchCounts | None:
    """Count matches like `count_matches`, with the given `kernel`."""
    if not (is_countable(relation) and _is_simple(gold, predictions)) or (
        relation.compares_links and gold.has_unlinked
    ):
        return None
    sides = _to_side(gold.items, first_doc, end_doc), _to_side(predictions.items, first_doc, end_doc)
    return _compute_weights(kernel, *sides, [relation], 0, end_doc - first_doc)[0]


def count_span_matches(
    arrays: SpanArrays, relations: Sequence[MatchRelation], first_doc: int, end_doc: int
) -> list[MatchCounts] | None:
    """Count matches like `count_matches`, from arrays and under several relations at once; None without Numba.

    `is_countable` must hold for all relations.
    """
    kernel = compile_kernel()
    return None if kernel is None else count_span_matches_with(kernel, arrays, relations, first_doc, end_doc)


def count_span_matches_with(
    kernel: Kernel, arrays: SpanArrays, relations: Sequence[MatchRelation], first_doc: int, end_doc: int
) -> list[MatchCounts]:
    """Count matches like `count_span_matches`, with the given `kernel`."""
    return _compute_weights(kernel, _freeze(*arrays.gold), _freeze(*arrays.predictions), relations, first_doc, end_doc)


def is_countable(relation: MatchRelation) -> bool:
    """Return whether a relation compares only spans (equal or overlapping) and first ids, without partial credit.

    Then matches can be counted without verdicts.
    """
    has_span_rule = (relation.find_pairs, relation.spans_match) in ((find_same_spans, same_span), (find_overlaps, None))
    has_link_rule = relation.degree in (None, same_entity) and not relation.is_graded and relation.credit is None
    return has_span_rule and has_link_rule and relation.level == "mention" and not relation.is_typed


def _is_simple(gold: GoldItems, predictions: PredictedItems) -> bool:
    """Return whether every label is a required mention of its own and no item has more than a span and an id."""
    if gold.has_alternatives or gold.has_segmentations or gold.optional.any():
        return False
    return all(
        extra is None
        for items in (gold.items, predictions.items)
        for extra in (items.same_as, items.word_spans, items.kind, items.is_outside)
    )


def _to_side(items: Items, first_doc: int, end_doc: int) -> _Side:
    """Return the items of the documents from `first_doc` to before `end_doc` as arrays for the kernel."""
    begins = np.append(0, np.cumsum(np.bincount(items.document - first_doc, minlength=end_doc - first_doc)))
    return _freeze(begins, items.start, items.end, items.entity)


def _freeze(begins: Longs, start: Ints, end: Ints, entity: Ints) -> _Side:
    """Return read-only views of the arrays in fixed types, so that Numba compiles the kernel only once."""
    arrays = [np.require(begins, np.int64, "C"), *(np.require(array, np.int32, "C") for array in (start, end, entity))]
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views[0], views[1], views[2], views[3]


def _compute_weights(
    kernel: Kernel, gold: _Side, predictions: _Side, relations: Sequence[MatchRelation], first_doc: int, end_doc: int
) -> list[MatchCounts]:
    """Run the kernel and return the sums of the four `Weights` of each document, one result per relation."""
    n_gold, n_predictions = (np.diff(side[0][first_doc : end_doc + 1]) for side in (gold, predictions))
    sizes = np.empty((len(_KERNEL_ROWS), end_doc - first_doc), np.int64)
    max_size = int(max(n_gold.max(initial=0), n_predictions.max(initial=0)))
    kernel(gold, predictions, first_doc, end_doc, sizes, np.empty((8, 1 + max_size), np.int64))
    weights = []
    for relation in relations:
        table = np.empty((end_doc - first_doc, 4))
        table[:, 0] = table[:, 2] = sizes[
            _KERNEL_ROWS[relation.find_pairs is find_same_spans, relation.degree is not None]
        ]
        table[:, 1], table[:, 3] = n_predictions - table[:, 0], n_gold - table[:, 0]
        weights.append(MatchCounts(table))
    return weights


@cache
def compile_kernel() -> Kernel | None:
    """Compile the kernel with Numba, which caches it on disk; return None without Numba."""
    try:
        numba: Any = import_module("numba")
    except ImportError:
        return None
    longs, ints = (numba.types.Array(number, 1, "C", readonly=True) for number in (numba.int64, numba.int32))
    side, table = numba.types.Tuple((longs, ints, ints, ints)), numba.int64[:, ::1]
    signature = numba.void(side, side, numba.int64, numba.int64, table, table)
    try:
        kernel: Kernel = numba.njit(signature, nogil=True, cache=True)(count_largest_matchings)
    except RuntimeError:  # Numba finds no writable cache folder
        kernel = numba.njit(signature, nogil=True)(count_largest_matchings)
    return kernel


def count_largest_matchings(
    gold: _Side, predictions: _Side, first_doc: int, end_doc: int, sizes: Longs, buffer: Longs
) -> None:
    """Write the sizes of largest matchings in each document into `sizes`, in the rows of `_KERNEL_ROWS`.

    The documents are `first_doc` to before `end_doc`, one column each. `buffer` has eight rows, each one longer than
    the largest number of labels or predictions in a document. The code is written for a compiler: one function, loops
    and arrays. A span is one number with the start in its upper half.
    """
    gold_first, gold_start, gold_end, gold_id = gold
    prediction_first, prediction_start, prediction_end, prediction_id = predictions
    gold_spans, sorted_gold_ids, prediction_spans, sorted_prediction_ids = buffer[0], buffer[1], buffer[2], buffer[3]
    spare, spare_values, open_gold, open_predictions = buffer[4], buffer[5], buffer[6], buffer[7]

    def sort(keys: Longs, values: Longs, low: int, high: int) -> None:
        """Sort keys and their values from `low` to before `high`, stably; sorted input is cheap."""
        for begin in range(low, high, _SORT_RUN):
            for i in range(begin + 1, min(begin + _SORT_RUN, high)):
                if keys[i] < keys[i - 1]:
                    key, value, at = keys[i], values[i], i
                    while at > begin and keys[at - 1] > key:
                        keys[at], values[at] = keys[at - 1], values[at - 1]
                        at -= 1
                    keys[at], values[at] = key, value
        width = _SORT_RUN
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
        """Add an end to a heap of `size` ends with the smallest first."""
        at = size
        while at > 0 and heap[(at - 1) // 2] > end:
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap[at] = end

    def pop(heap: Longs, size: int) -> None:
        """Remove the smallest end from a heap of `size` ends."""
        end, at, below = heap[size - 1], 0, 1
        while below < size:
            if below + 1 < size and heap[below + 1] < heap[below]:
                below += 1
            if heap[below] >= end:
                break
            heap[at] = heap[below]
            at, below = below, 2 * below + 1
        heap[at] = end

    def count_equal(g: int, end_gold: int, a: int, end_prediction: int) -> int:
        """Return how many sorted labels and predictions can be paired with equal spans."""
        count = 0
        while g < end_gold and a < end_prediction:
            gold_span, prediction_span = gold_spans[g], prediction_spans[a]
            count += gold_span == prediction_span
            g += gold_span <= prediction_span
            a += prediction_span <= gold_span
        return count

    def count_overlapping(g: int, end_gold: int, a: int, end_prediction: int) -> int:
        """Return how many sorted labels and predictions can be paired with an overlapping span.

        All open spans overlap each other. Before a span opens, the spans that end there are paired if possible.
        """
        n = m = count = 0
        while g < end_gold or a < end_prediction:
            is_gold = a == end_prediction or (g < end_gold and gold_spans[g] <= prediction_spans[a])
            span = gold_spans[g] if is_gold else prediction_spans[a]
            while n + m > 0:
                gold_ends_first = m == 0 or (n > 0 and open_gold[0] <= open_predictions[0])

                if (open_gold[0] if gold_ends_first else open_predictions[0]) > span >> 32:
                    break
                both = n > 0 and m > 0
                if gold_ends_first or both:
                    pop(open_gold, n)
                    n -= 1
                if both or not gold_ends_first:
                    pop(open_predictions, m)
                    m -= 1
                count += both
            if is_gold:
                push(open_gold, n, span & _END_MASK)
                n += 1
                g += 1
            else:
                push(open_predictions, m, span & _END_MASK)
                m += 1
                a += 1
        return count + min(n, m)

    for d in range(first_doc, end_doc):
        begin, n = gold_first[d], gold_first[d + 1] - gold_first[d]
        for i in range(n):
            gold_spans[i] = (np.int64(gold_start[begin + i]) << 32) | np.int64(gold_end[begin + i])
            sorted_gold_ids[i] = gold_id[begin + i]
        begin, m = prediction_first[d], prediction_first[d + 1] - prediction_first[d]
        for i in range(m):
            prediction_spans[i] = (np.int64(prediction_start[begin + i]) << 32) | np.int64(prediction_end[begin + i])
            sorted_prediction_ids[i] = prediction_id[begin + i]
        sort(gold_spans, sorted_gold_ids, 0, n)
        sort(prediction_spans, sorted_prediction_ids, 0, m)
        gold_spans[n] = prediction_spans[m] = _NO_SPAN
        strong = mention = weak = overlap = 0
        g = a = 0
        while g < n and a < m:
            gold_span, prediction_span = gold_spans[g], prediction_spans[a]
            if gold_span & _END_MASK <= prediction_span >> 32:
                g += 1
                continue
            if prediction_span & _END_MASK <= gold_span >> 32:
                a += 1
                continue
            reach = max(gold_span & _END_MASK, prediction_span & _END_MASK)
            if (
                gold_spans[g + 1] >> 32 >= reach and prediction_spans[a + 1] >> 32 >= reach
            ):  # nothing else overlaps the two
                same_id = sorted_gold_ids[g] == sorted_prediction_ids[a]
                strong += same_id and gold_span == prediction_span
                mention += gold_span == prediction_span
                weak += same_id
                overlap += 1
                g += 1
                a += 1
                continue
            h, b = g + 1, a + 1
            while gold_spans[h] >> 32 < reach or prediction_spans[b] >> 32 < reach:
                if gold_spans[h] >> 32 < reach:
                    reach = max(reach, gold_spans[h] & _END_MASK)
                    h += 1
                else:
                    reach = max(reach, prediction_spans[b] & _END_MASK)
                    b += 1
            same = count_equal(g, h, a, b)
            mention += same
            overlap += same if same == min(h - g, b - a) else count_overlapping(g, h, a, b)
            sort(sorted_gold_ids, gold_spans, g, h)
            sort(sorted_prediction_ids, prediction_spans, a, b)
            while g < h:  # one entity after the other
                id, i = sorted_gold_ids[g], g
                while i < h and sorted_gold_ids[i] == id:
                    i += 1
                while a < b and sorted_prediction_ids[a] < id:
                    a += 1
                j = a
                while j < b and sorted_prediction_ids[j] == id:
                    j += 1
                if a < j:
                    same = count_equal(g, i, a, j)
                    strong += same
                    weak += same if same == min(i - g, j - a) else count_overlapping(g, i, a, j)
                g, a = i, j
            a = b
        column = d - first_doc
        sizes[0, column], sizes[1, column], sizes[2, column], sizes[3, column] = strong, mention, weak, overlap
