"""Pairs of predictions and mentions, found by the walk of the HIPE scorer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from karat.matching.align.overlap import (
    find_overlaps,
    find_same_spans,
    same_span,
    same_words,
)
from karat.model.items import Items, Pairs
from karat.model.limits import get_limit
from karat.model.tables.columns import Bools

PairTest: TypeAlias = Callable[[Items, Items, Pairs], Bools]
"""Function that returns the mask of pairs with the same label."""


def have_same_tokens(gold: Items, predictions: Items, pairs: Pairs) -> Bools:
    """Return the mask of pairs with the same span and the same words; the scorer compares both."""
    return same_span(gold, predictions, pairs) & same_words(gold, predictions, pairs)


PAIR_RULE = (
    "Pairs are formed as in the HIPE scorer: each prediction is paired with at most one mention, a mention that is "
    "paired with a wrong prediction is lost, and of a mention with alternatives only the first counts."
)
"""Description of the pairing, for all relations of the walk."""


def walk(gold: Items, predictions: Items, has_same_label: PairTest) -> Pairs:
    """Pair each prediction, in file order, with at most one mention, correct or wrong, and return the pairs.

    A prediction is paired with the mention that has its span, words and label, else with the first overlapping mention
    in the file. Each mention is paired once, so a mention paired with a wrong prediction is lost for a later correct
    one.
    """
    is_crowded = len(gold) * len(predictions) > get_limit("pairs")
    if is_crowded and int(find_overlaps.count_pairs(gold, predictions).max()) > get_limit("pairs"):
        return _walk_crowded(gold, predictions, has_same_label)
    pairs = find_overlaps(gold, predictions)
    pairs = pairs.select(_mask_first_on_span(gold)[pairs.gold])
    is_correct = have_same_tokens(gold, predictions, pairs) & has_same_label(gold, predictions, pairs)
    is_paired = (np.bincount(pairs.gold)[pairs.gold] == 1) & (np.bincount(pairs.prediction)[pairs.prediction] == 1)
    paired_mentions = set[int]()
    paired_predictions = set[int]()
    order = np.lexsort(
        (gold.row[pairs.gold], ~is_correct, predictions.row[pairs.prediction])
    )  # a correct pair before all others
    for index in order[~is_paired[order]].tolist():
        mention, prediction = int(pairs.gold[index]), int(pairs.prediction[index])
        if prediction not in paired_predictions and mention not in paired_mentions:
            is_paired[index] = True
            paired_mentions.add(mention)
            paired_predictions.add(prediction)
    return pairs.select(is_paired)


def _mask_first_on_span(gold: Items) -> Bools:
    """Return the mask of labels that are the first with their span in the file; the others are alternatives."""
    mask = np.zeros(len(gold), np.bool_)
    spans = np.column_stack([gold.document, gold.start, gold.end, gold.row])
    order = np.lexsort(spans.T[::-1])
    spans = spans[order, :3]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (spans[1:] != spans[:-1]).any(axis=1)
    mask[order[is_new]] = True
    return mask


def _walk_crowded(gold: Items, predictions: Items, has_same_label: PairTest) -> Pairs:
    """Walk like `walk`, looking up mentions for each prediction, since there are too many pairs to hold."""
    exact = find_same_spans(gold, predictions)
    exact = exact.select(has_same_label(gold, predictions, exact) & same_words(gold, predictions, exact))
    exact = Pairs(*(side[np.lexsort((gold.row[exact.gold], exact.prediction))] for side in exact))
    begin = np.searchsorted(exact.prediction, np.arange(len(predictions) + 1)).tolist()
    mentions = np.lexsort((gold.row, gold.document))
    bounds = (
        np.searchsorted(gold.document[mentions], predictions.document),
        np.searchsorted(gold.document[mentions], predictions.document, side="right"),
    )
    is_free, pairs = _mask_first_on_span(gold), []
    for prediction in np.argsort(predictions.row, kind="stable").tolist():
        candidates = exact.gold[begin[prediction] : begin[prediction + 1]]
        candidates = candidates[is_free[candidates]]
        if not len(candidates):
            neighbours = mentions[bounds[0][prediction] : bounds[1][prediction]]
            candidates = neighbours[
                is_free[neighbours]
                & (gold.start[neighbours] < predictions.end[prediction])
                & (gold.end[neighbours] > predictions.start[prediction])
            ]
        if len(candidates):
            is_free[candidates[0]] = False
            pairs.append((int(candidates[0]), prediction))
    return Pairs(*np.array(pairs, np.int64).reshape(-1, 2).T)
