"""Matches of equal spans that are safe to take first in crowded documents, which leaves a small problem."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from karat.matching.align.assignment import Preferences, rank_items
from karat.model.items import Items, Pairs
from karat.model.tables.columns import Longs

_MIN_PAIRS = 10_000  # with fewer pairs at one location, this step does not pay off


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
