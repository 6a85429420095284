"""Where all spans share a place, equal spans go together: what is left to decide is small."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from karat.matching.align.assign import Preferences, ranks
from karat.model.items import Items, Pairs
from karat.model.tables.columns import Longs

_FEW = 10_000  # fewer pairs at one place are not worth the look


class Settled(NamedTuple):
    """Pairs that belong to a best assignment of overlapping spans, and the labels and answers that are left for it."""

    pairs: Pairs
    labels: Longs
    answers: Longs


def settle_exact(labels: Longs, answers: Longs, prefer: Preferences) -> Settled:
    """Pairs with equal spans that are safe to take first, if any overlap matches; all of one document.

    Where all spans share a place, everybody could be matched with everybody. Take a best assignment without such a
    pair, and let its two go together: those they were with can go together too, no fewer are matched, the exact span
    is won, and the overlaps do not shrink. This holds if the mention counts as much as any other there, and if its
    answer is matched anyway, or has the same score as all others. Answers whose scores are too low to be matched at all
    are left out.
    """
    gold, given = prefer.gold, prefer.answers
    start = np.concatenate([gold.start[labels], given.start[answers]]).astype(np.int64)
    end = np.concatenate([gold.end[labels], given.end[answers]]).astype(np.int64)
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate(end[order])
    fresh = np.flatnonzero(start[order][1:] >= reach[:-1]) + 1
    found, stay, chosen = [], np.ones(len(labels), np.bool_), np.ones(len(answers), np.bool_)
    for low, high in pairwise([0, *fresh.tolist(), len(order)]):
        here = order[low:high]
        units, own = here[here < len(labels)], here[here >= len(labels)] - len(labels)
        if len(units) * len(own) <= _FEW or start[here].max() >= end[here].min():
            continue
        if len(np.unique(prefer.required[labels[units]])) > 1:
            continue
        score = prefer.levels(answers[own])
        if len(own) > len(units):
            least = np.sort(score)[len(own) - len(units)]
            chosen[own[score < least]] = False
            own, score = own[score >= least], score[score >= least]
            if len(own) > len(units) and score.max() > least:
                own = own[score > least]  # of the others only some are matched, and nobody knows yet which
        units, own = _equal(units, own, labels, answers, gold, given)
        found.append((labels[units], answers[own]))
        stay[units], chosen[own] = False, False
    taken = [np.concatenate(side) for side in zip(*found, strict=True)] if found else [labels[:0], answers[:0]]
    return Settled(Pairs(*taken), labels[stay], answers[chosen])


def _equal(units: Longs, own: Longs, labels: Longs, answers: Longs, gold: Items, given: Items) -> tuple[Longs, Longs]:
    """Labels and answers with equal spans, each once; of several on a span those of the lower ids."""
    units = units[np.argsort(ranks(gold, labels[units]))]
    own = own[np.argsort(ranks(given, answers[own]))]
    spans = [_spans(gold, labels[units]), _spans(given, answers[own])]
    code = np.unique(np.concatenate(spans), return_inverse=True)[1]
    one, other = _numbered(code[: len(units)]), _numbered(code[len(units) :])
    _, left, right = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return units[left], own[right]


def _spans(items: Items, places: Longs) -> Longs:
    spans: Longs = (items.start[places].astype(np.int64) << 32) + items.end[places]
    return spans


def _numbered(code: Longs) -> Longs:
    """Equal codes told apart by their order; what is sorted by span has them side by side."""
    numbers: Longs = (code << 32) + np.arange(len(code)) - np.searchsorted(code, code)
    return numbers
