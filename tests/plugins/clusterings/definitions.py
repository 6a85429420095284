"""The clustering measures in plain sets, straight from their definitions: slow, and written apart from Karat's code."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np

from karat.model.results.clusters import ClusterMembers, Members, compare_members


def compare_clusters(gold_mention, gold_cluster, prediction_mention, prediction_cluster):
    """Karat's counts of two clusterings, each as parallel arrays of codes of mentions and clusters."""
    return compare_members(
        ClusterMembers(Members(gold_mention, gold_cluster), Members(prediction_mention, prediction_cluster))
    )


def counted(gold, predictions):
    """Karat's counts of two lists of sets of mentions."""
    return compare_clusters(*_codes(gold), *_codes(predictions))


def _codes(side):
    pairs = [(mention, number) for number, cluster in enumerate(side) for mention in cluster]
    return np.array(pairs, np.int64).reshape(-1, 2).T


def muc(gold, predictions):
    return *_links(predictions, gold), *_links(gold, predictions)


def _links(side, other):
    found = missing = 0
    for cluster in side:
        parts = [{mention} for mention in cluster]
        for held in other:
            touched = [part for part in parts if part & held]
            parts = [part for part in parts if not part & held] + ([set().union(*touched)] if touched else [])
        found += len(cluster) - len(parts)
        missing += len(parts) - 1
    return found, missing


def b_cubed(gold, predictions):
    by_gold, by_predictions = _together(gold), _together(predictions)
    return *_shares(by_predictions, by_gold), *_shares(by_gold, by_predictions)


def _together(side):
    return {m: set().union(*(cluster for cluster in side if m in cluster)) for m in set().union(*side)}


def _shares(side, other):
    right = sum(Fraction(len(near & other.get(m, set())), len(near)) for m, near in side.items())
    return right, len(side) - right


def pairwise(gold, predictions):
    of_gold, of_predictions = _pairs(gold), _pairs(predictions)
    both = len(of_gold & of_predictions)
    return both, len(of_predictions) - both, both, len(of_gold) - both


def _pairs(side):
    return {pair for cluster in side for pair in combinations(sorted(cluster), 2)}


def pairwise_negative(gold, predictions):
    of_gold, of_predictions = (
        set(combinations(sorted(set().union(*side)), 2)) - _pairs(side) for side in (gold, predictions)
    )
    both = len(of_gold & of_predictions)
    return both, len(of_predictions) - both, both, len(of_gold) - both


def ceaf_mention(gold, predictions):
    best = _best(gold, predictions, lambda k, r: len(k & r))
    return best, sum(map(len, predictions)) - best, best, sum(map(len, gold)) - best


def ceaf_entity(gold, predictions):
    best = _best(gold, predictions, lambda k, r: Fraction(2 * len(k & r), len(k) + len(r)))
    return best, len(predictions) - best, best, len(gold) - best


def _best(gold, predictions, alike):
    few, many = sorted((gold, predictions), key=len)
    orders = permutations(many, len(few))
    return max((sum(alike(k, r) for k, r in zip(few, order, strict=True)) for order in orders), default=0)
