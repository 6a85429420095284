"""Numbers of matches per document, without verdicts on single cases.

The number is the size of a largest matching. Equal spans are counted by sorting. Overlapping spans fall into
components: chains of spans that each overlap another span. Nearly all components are so simple that arrays count them
all at once. The others are swept from left to right, which needs no search for pairs: of all remaining spans, the one
that ends first overlaps only spans that reach its end. Every span that overlaps the first-ending of those also overlaps
the others, so matching these two loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np

from karat.matching.align.overlap import find_overlaps, find_same_spans, same_entity, same_span
from karat.matching.read.pairing import SpanArrays
from karat.model.items import GoldItems, Items, PredictedItems
from karat.model.spec.relation import MatchRelation
from karat.model.tables.columns import NO_LINK, Bools, Floats, Ints, Longs

_Side: TypeAlias = tuple[Longs, Ints, Ints, Ints]
"""Offsets of the documents, and start, end and entity of each item."""

_OFFSET = (1 << 32) - 1
"""Mask of the lower half of a location: the offset."""


class CountingRule(NamedTuple):
    """The comparison that a countable relation makes."""

    is_exact: bool
    """Whether spans must be equal; else they must overlap."""
    compares_links: bool
    """Whether links must be equal."""


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

    The documents are `first_doc` to before `end_doc`. Return None if verdicts are needed instead, because the relation
    or the items are not simple enough.
    """
    if not (is_countable(relation) and _is_simple(gold, predictions)) or (
        relation.compares_links and gold.has_unlinked
    ):
        return None
    gold_side, predicted_side = (_to_side(items, first_doc, end_doc) for items in (gold.items, predictions.items))
    return _count_sides(gold_side, predicted_side, [relation], 0, end_doc - first_doc)[0]


def count_span_matches(
    arrays: SpanArrays, relations: Sequence[MatchRelation], first_doc: int, end_doc: int
) -> list[MatchCounts]:
    """Count matches like `count_matches`, from arrays and under several relations at once.

    `is_countable` must hold for all relations.
    """
    return _count_sides(arrays.gold, arrays.predictions, relations, first_doc, end_doc)


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
    """Return the items of the documents from `first_doc` to before `end_doc`, which are sorted by document."""
    begins = np.append(0, np.cumsum(np.bincount(items.document - first_doc, minlength=end_doc - first_doc)))
    return begins, items.start, items.end, items.entity


def _count_sides(
    gold: _Side, predictions: _Side, relations: Sequence[MatchRelation], first_doc: int, end_doc: int
) -> list[MatchCounts]:
    """Return the sums of the four `Weights` of each document, one result per relation."""
    n_gold, n_predictions = (np.diff(side[0][first_doc : end_doc + 1]) for side in (gold, predictions))
    rules = [
        CountingRule(relation.find_pairs is find_same_spans, relation.degree is not None) for relation in relations
    ]
    sizes = count_largest_matchings(gold, predictions, rules, first_doc, end_doc)
    return [
        MatchCounts(np.stack([size, n_predictions - size, size, n_gold - size], axis=1).astype(np.float64))
        for size in sizes
    ]


class _Spans(NamedTuple):
    """Spans of both sides, sorted by group and start; a group is a document, or an entity in a document.

    A location is one number with the group in its upper half and the offset in its lower half.
    """

    start: Longs
    """Location of the start."""
    end: Longs
    """Location of the end."""
    is_gold: Bools
    """Whether the span is a label; else it is a prediction."""
    document: Longs
    """Document of each span, counted from the first one."""


def count_largest_matchings(
    gold: _Side, predictions: _Side, rules: Sequence[CountingRule], first_doc: int, end_doc: int
) -> list[Longs]:
    """Return the sizes of largest matchings in each document from `first_doc` to before `end_doc`, for each rule."""
    sides, n_documents = (gold, predictions), end_doc - first_doc
    rows = [slice(side[0][first_doc], side[0][end_doc]) for side in sides]
    start, end = (
        np.concatenate([side[column][row] for side, row in zip(sides, rows, strict=True)], dtype=np.int64)
        for column in (1, 2)
    )
    entity = np.concatenate([side[3][row] for side, row in zip(sides, rows, strict=True)])
    n_items = np.concatenate([np.diff(side[0][first_doc : end_doc + 1]) for side in sides])
    location = np.repeat(np.tile(np.arange(n_documents) << 32, 2), n_items)
    start += location
    end += location
    order = np.argsort(start, kind="stable")  # only merges the sides if each is sorted already
    start, end, entity, is_gold = start[order], end[order], entity[order], order < rows[0].stop - rows[0].start

    # Nearly all components are single spans or a label with a prediction, which need no further sorting.
    is_first = np.append(_mask_first(start, end), [True, True])
    is_pair = is_first[:-2] & ~is_first[1:-1] & is_first[2:]
    is_other = ~(is_first[:-2] & is_first[1:-1]) & ~is_pair
    is_other[1:] &= ~is_pair[:-1]
    left = np.flatnonzero(is_pair[:-1] & (is_gold[:-1] != is_gold[1:]))
    is_same_span = ((start[:-1] == start[1:]) & (end[:-1] == end[1:]))[left]
    is_same_entity = (entity[:-1] == entity[1:])[left]
    cell = (is_same_span * np.int64(2) + is_same_entity) * n_documents + (start[left] >> 32)
    pairs = np.bincount(cell, minlength=4 * n_documents).reshape(2, 2, n_documents)
    sizes = [pairs[int(rule.is_exact) :, int(rule.compares_links) :].sum(axis=(0, 1)) for rule in rules]

    other = np.flatnonzero(is_other)
    if len(other):
        by_document = _Spans(start[other], end[other], is_gold[other], start[other] >> 32)
        by_entity = _group_by_entity(by_document, entity[other])
        for rule, size in zip(rules, sizes, strict=True):
            count = _count_equal if rule.is_exact else _count_overlapping
            size += count(by_entity if rule.compares_links else by_document, n_documents)
    return sizes


def _mask_first(start: Longs, end: Longs) -> Bools:
    """Return which spans are the first of their component: all spans before have ended where they start."""
    is_first = np.ones(len(start), np.bool_)
    np.greater_equal(start[1:], np.maximum.accumulate(end)[:-1], out=is_first[1:])
    return is_first


def _group_by_entity(spans: _Spans, entity: Ints) -> _Spans:
    """Return the spans of documents with the entities as groups; `entity` has the code of each span."""
    key = (spans.document << 32) + (entity.astype(np.int64) - NO_LINK)
    order = np.argsort(key, kind="stable")
    group = _rank_sorted(key[order]) << 32
    start, end = (group + (location[order] & _OFFSET) for location in (spans.start, spans.end))
    return _Spans(start, end, spans.is_gold[order], spans.document[order])


def _rank_sorted(values: Longs) -> Longs:
    """Return the rank of each of the sorted values among the distinct ones, from 0."""
    return np.cumsum(np.diff(values, prepend=values[:1]) != 0, dtype=np.int64)


def _count_equal(spans: _Spans, n_documents: int) -> Longs:
    """Return how many labels and predictions of each document can be paired with equal spans of their group."""
    key = (_rank_sorted(spans.start) << 32) + (spans.end & _OFFSET)
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    count = _count_smaller_side(spans.is_gold[order], first)
    return _sum_by_document(count, spans.document[order[first]], n_documents)


def _count_overlapping(spans: _Spans, n_documents: int) -> Longs:
    """Return how many labels and predictions of each document can be paired with overlapping spans of their group."""
    first = np.flatnonzero(_mask_first(spans.start, spans.end))
    bounds = np.append(first, len(spans.start))
    count = _count_smaller_side(spans.is_gold, first)
    all_overlap = spans.start[bounds[1:] - 1] < np.minimum.reduceat(spans.end, first)
    for i in np.flatnonzero((count > 1) & ~all_overlap).tolist():
        count[i] = _sweep(*(column[bounds[i] : bounds[i + 1]].tolist() for column in spans[:3]))
    return _sum_by_document(count, spans.document[first], n_documents)


def _count_smaller_side(is_gold: Bools, first: Longs) -> Longs:
    """Return the smaller of the numbers of labels and predictions in each run of spans; runs begin at `first`."""
    n_gold = np.add.reduceat(is_gold, first, dtype=np.int64)
    smaller: Longs = np.minimum(n_gold, np.diff(first, append=len(is_gold)) - n_gold)
    return smaller


def _sum_by_document(counts: Longs, document: Longs, n_documents: int) -> Longs:
    """Return the sum of the counts of each document."""
    return np.bincount(document, counts, minlength=n_documents).astype(np.int64)


def _sweep(starts: list[int], ends: list[int], sides: list[bool]) -> int:
    """Return how many labels and predictions can be paired with overlapping spans; spans are sorted by start.

    All open spans overlap each other. Before a span opens, the spans that end there are paired if possible. `sides`
    says which spans are labels.
    """
    labels: list[int] = []
    predictions: list[int] = []
    count = 0
    for start, end, is_gold in zip(starts, ends, sides, strict=True):
        while (labels and labels[0] <= start) or (predictions and predictions[0] <= start):
            if labels and predictions:
                heappop(labels)
                heappop(predictions)
                count += 1
            else:
                heappop(labels or predictions)
        heappush(labels if is_gold else predictions, end)
    return count + min(len(labels), len(predictions))
