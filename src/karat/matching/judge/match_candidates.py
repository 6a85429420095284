"""Pairs of labels and predictions that can match or share a location.

In crowded documents, with too many pairs to hold at once, only the pairs that are needed are found.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from karat.matching.align.assignment import Edges, Preferences, rank_items
from karat.matching.align.overlap import Join, crowded_error, find_overlaps
from karat.model.errors import KaratError
from karat.model.items import GoldItems, Items, Pairs
from karat.model.limits import get_limit
from karat.model.spec.relation import MatchRelation
from karat.model.tables.columns import Bools, Floats, Longs

_MIN_PAIRS = 10_000  # with fewer pairs at one location, this step does not pay off


class MatchCandidates(NamedTuple):
    """Pairs that match, and functions that find pairs at the same location that do not match."""

    matches: Edges
    """Pairs that match under the relation."""
    find_mismatches: Callable[[Bools, Bools], Edges]
    """Function of a label mask and a prediction mask; returns the pairs at the same location that do not match."""
    find_predictions_at: Callable[[Bools], Longs]
    """Function of a label mask; returns the predictions at the location of one of the labels."""


def candidates_from_pairs(
    gold: GoldItems, predictions: Items, relation: MatchRelation, pairs: Pairs
) -> MatchCandidates:
    """Return the match candidates among `pairs`, which must be all pairs at the same location."""
    located = _to_edges(gold, pairs, _compute_degrees(gold.items, predictions, relation, pairs))
    is_match = located.degree > 0
    return MatchCandidates(
        located.take(is_match),
        lambda labels, free: located.take(~is_match & labels[located.label] & free[located.prediction]),
        lambda labels: located.prediction[labels[located.label]],
    )


def _to_edges(gold: GoldItems, pairs: Pairs, degree: Floats | Bools) -> Edges:
    """Return pairs of labels and predictions as edges between mentions and predictions, with their degrees."""
    return Edges(
        gold.mention[pairs.gold] if gold.has_alternatives else pairs.gold, pairs.gold, pairs.prediction, degree
    )


def _compute_degrees(gold: Items, predictions: Items, relation: MatchRelation, pairs: Pairs) -> Floats | Bools:
    """Return the degree of each pair under the relation; all True without a degree function.

    Raise `KaratError` if the function returns degrees that it may not return.
    """
    if relation.degree is None:
        return np.ones(len(pairs.gold), np.bool_)
    degree = relation.degree(gold, predictions, pairs)
    if degree.dtype != np.bool_:
        _check_degrees(degree, relation)
    return degree


def _check_degrees(degree: Floats | Bools, relation: MatchRelation) -> None:
    """Raise `KaratError` unless degrees are from 0 to 1, for graded relations, or else 0 or 1."""
    is_valid = (degree >= 0) & (degree <= 1) if relation.is_graded else (degree == 0) | (degree == 1)
    if not is_valid.all():
        allowed = "from 0 to 1" if relation.is_graded else "0 or 1 (set is_graded=True for partial credit)"
        raise KaratError(f"relation {relation.title!r}: a degree is not {allowed}. Correct its `degree` function.")


class _CrowdedBlock(NamedTuple):
    """Documents with more pairs than are held at once."""

    gold: GoldItems
    predictions: Items
    relation: MatchRelation
    join: Join

    def find_pairs(self, labels: Longs, predictions: Longs, select: Callable[[Pairs], Bools]) -> Pairs:
        """Find the pairs of some labels and predictions for which `select` is true, part by part.

        `select` returns the mask of some pairs. Raise `InputError` if it selects more pairs than the limit.
        """
        parts, total = [], 0
        for part in self.join.find_in_parts(self.gold.items.take(labels), self.predictions.take(predictions)):
            pairs = Pairs(labels[part.gold], predictions[part.prediction])
            pairs = pairs.select(select(pairs))
            total += len(pairs.gold)
            self.check_limit(total)
            parts.append(pairs)
        return Pairs(*map(np.concatenate, zip(*parts, strict=True))) if parts else Pairs(labels[:0], predictions[:0])

    def find_assignable_pairs(self, labels: Longs, predictions: Longs, preferences: Preferences) -> Pairs:
        """Find the pairs of some labels and predictions at the same location, or enough for an optimal assignment.

        Raise `InputError` if these are more pairs than the limit.
        """
        exact = Pairs(labels[:0], predictions[:0])
        if self.join is find_overlaps and self.relation.spans_match is None and not self.gold.has_alternatives:
            exact, labels, predictions = match_exact_spans(labels, predictions, preferences)
        self.check_limit(
            int(self.join.count_pairs(self.gold.items.take(labels), self.predictions.take(predictions)).sum())
        )
        rest = self.find_pairs(labels, predictions, self.mask_located)
        return Pairs(np.concatenate([exact.gold, rest.gold]), np.concatenate([exact.prediction, rest.prediction]))

    def mask_located(self, pairs: Pairs) -> Bools:
        """Return the mask of pairs at the same location, by the relation's `spans_match`."""
        spans_match = self.relation.spans_match
        return (
            np.ones(len(pairs.gold), np.bool_)
            if spans_match is None
            else spans_match(self.gold.items, self.predictions, pairs)
        )

    def compute_degrees(self, pairs: Pairs) -> Floats | Bools:
        """Return the degree of each pair under the relation."""
        return _compute_degrees(self.gold.items, self.predictions, self.relation, pairs)

    def check_limit(self, n_pairs: int) -> None:
        """Raise `InputError`, naming the most crowded document, if `n_pairs` exceeds the limit `pairs`."""
        if n_pairs > get_limit("pairs"):
            raise crowded_error(int(self.join.count_pairs(self.gold.items, self.predictions).argmax()), n_pairs)


def find_crowded_candidates(
    gold: GoldItems, predictions: Items, relation: MatchRelation, preferences: Preferences, *, is_optimal: bool
) -> MatchCandidates | None:
    """Return the match candidates if a document has more pairs than the limit that is held at once; else None.

    With `is_optimal`, only the pairs that an optimal assignment needs are found. Raise `InputError` if these are still
    too many.
    """
    join = relation.find_pairs
    if not isinstance(join, Join) or int(join.count_pairs(gold.items, predictions).max(initial=0)) <= get_limit(
        "pairs"
    ):
        return None
    block = _CrowdedBlock(gold, predictions, relation, join)
    all_rows = np.arange(len(block.gold.items)), np.arange(len(block.predictions))
    if relation.find_correct_pairs is not None:
        pairs = relation.find_correct_pairs(block.gold.items, block.predictions)
        block.check_limit(len(pairs.gold))
    elif relation.degree is None and is_optimal and not block.gold.has_segmentations:
        pairs = block.find_assignable_pairs(*all_rows, preferences)
    else:
        pairs = block.find_pairs(
            *all_rows, lambda pairs: block.mask_located(pairs) & (block.compute_degrees(pairs) > 0)
        )

    def find_mismatches(labels: Bools, free: Bools) -> Edges:
        # The assignment is complete, so no remaining label matches a remaining prediction.
        pairs = Pairs(all_rows[0][:0], all_rows[1][:0])
        if relation.degree is not None:
            pairs = block.find_assignable_pairs(np.flatnonzero(labels), np.flatnonzero(free), preferences)
        return _to_edges(block.gold, pairs, np.zeros(len(pairs.gold), np.bool_))

    def find_predictions_at(labels: Bools) -> Longs:
        mask = np.zeros(len(block.predictions), np.bool_)
        rows = np.flatnonzero(labels)
        for part in block.join.find_in_parts(block.gold.items.take(rows), block.predictions):
            pairs = Pairs(rows[part.gold], part.prediction)
            mask[pairs.prediction[block.mask_located(pairs)]] = True
        return np.flatnonzero(mask)

    edges = _to_edges(block.gold, pairs, block.compute_degrees(pairs))
    return MatchCandidates(edges, find_mismatches, find_predictions_at)


class ExactMatches(NamedTuple):
    """Pairs of an optimal assignment of overlapping spans, and the labels and predictions that remain."""

    pairs: Pairs
    """Matched pairs with equal spans."""
    labels: Longs
    """Remaining labels."""
    predictions: Longs
    """Remaining predictions; those whose scores are too low to be matched are dropped."""


def match_exact_spans(labels: Longs, predictions: Longs, preferences: Preferences) -> ExactMatches:
    """Match pairs with equal spans that an optimal assignment may contain, if any overlap is a match.

    `labels` and `predictions` are the indices of items of one document. If all spans share an offset, every label can
    be matched with every prediction. Take an optimal assignment without such a pair and match the two: their former
    partners can be matched with each other, no match is lost, one exact span is won and the overlaps do not shrink.
    This holds if the mention counts as much as the others there, and if its prediction is matched anyway or has the
    same score as the others.
    """
    gold, prediction_items = preferences.gold, preferences.predictions
    start = np.concatenate([gold.start[labels], prediction_items.start[predictions]]).astype(np.int64)
    end = np.concatenate([gold.end[labels], prediction_items.end[predictions]]).astype(np.int64)
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate(end[order])
    group_starts = np.flatnonzero(start[order][1:] >= reach[:-1]) + 1
    matches, keep_label, keep_prediction = [], np.ones(len(labels), np.bool_), np.ones(len(predictions), np.bool_)
    for low, high in pairwise([0, *group_starts.tolist(), len(order)]):
        group = order[low:high]
        mentions, candidates = group[group < len(labels)], group[group >= len(labels)] - len(labels)
        if len(mentions) * len(candidates) <= _MIN_PAIRS or start[group].max() >= end[group].min():
            continue
        if len(np.unique(preferences.required[labels[mentions]])) > 1:
            continue
        score = preferences.levels(predictions[candidates])
        if len(candidates) > len(mentions):
            min_score = np.sort(score)[len(candidates) - len(mentions)]
            keep_prediction[candidates[score < min_score]] = False
            candidates, score = candidates[score >= min_score], score[score >= min_score]
            if len(candidates) > len(mentions) and score.max() > min_score:
                candidates = candidates[
                    score > min_score
                ]  # only some of the others are matched, which is not decided yet
        mentions, candidates = _pair_equal_spans(mentions, candidates, labels, predictions, gold, prediction_items)
        matches.append((labels[mentions], predictions[candidates]))
        keep_label[mentions], keep_prediction[candidates] = False, False
    matched = (
        [np.concatenate(side) for side in zip(*matches, strict=True)] if matches else [labels[:0], predictions[:0]]
    )
    return ExactMatches(Pairs(*matched), labels[keep_label], predictions[keep_prediction])


def _pair_equal_spans(
    mentions: Longs, candidates: Longs, labels: Longs, predictions: Longs, gold: Items, prediction_items: Items
) -> tuple[Longs, Longs]:
    """Pair mentions and candidates with equal spans, each once; of several on a span those with lower ranks.

    Both are indices into `labels` and `predictions`, which are indices of items. Return the paired ones.
    """
    mentions = mentions[np.argsort(rank_items(gold, labels[mentions]))]
    candidates = candidates[np.argsort(rank_items(prediction_items, predictions[candidates]))]
    spans = [_encode_spans(gold, labels[mentions]), _encode_spans(prediction_items, predictions[candidates])]
    code = np.unique(np.concatenate(spans), return_inverse=True)[1]
    label_codes, prediction_codes = _distinguish_codes(code[: len(mentions)]), _distinguish_codes(code[len(mentions) :])
    _, label_index, prediction_index = np.intersect1d(
        label_codes, prediction_codes, assume_unique=True, return_indices=True
    )
    return mentions[label_index], candidates[prediction_index]


def _encode_spans(items: Items, rows: Longs) -> Longs:
    """Return one number for each item in `rows` that is equal for equal spans."""
    spans: Longs = (items.start[rows].astype(np.int64) << 32) + items.end[rows]
    return spans


def _distinguish_codes(code: Longs) -> Longs:
    """Return sorted codes combined with their number among equal codes, so that all are distinct."""
    numbers: Longs = (code << 32) + np.arange(len(code)) - np.searchsorted(code, code)
    return numbers
