"""The clustering measures in plain sets, straight from their definitions: slow, and written apart from Karat's code."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np

from karat.model.clusters import clusters


def counted(gold, answers):
    """Karat's counts of two lists of sets of mentions."""
    return clusters(*_codes(gold), *_codes(answers))


def _codes(side):
    pairs = [(mention, number) for number, cluster in enumerate(side) for mention in cluster]
    return np.array(pairs, np.int64).reshape(-1, 2).T


def muc(gold, answers):
    return *_links(answers, gold), *_links(gold, answers)


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


def b_cubed(gold, answers):
    by_gold, by_answers = _together(gold), _together(answers)
    return *_shares(by_answers, by_gold), *_shares(by_gold, by_answers)


def _together(side):
    return {m: set().union(*(cluster for cluster in side if m in cluster)) for m in set().union(*side)}


def _shares(side, other):
    right = sum(Fraction(len(near & other.get(m, set())), len(near)) for m, near in side.items())
    return right, len(side) - right


def pairwise(gold, answers):
    of_gold, of_answers = _pairs(gold), _pairs(answers)
    both = len(of_gold & of_answers)
    return both, len(of_answers) - both, both, len(of_gold) - both


def _pairs(side):
    return {pair for cluster in side for pair in combinations(sorted(cluster), 2)}


def pairwise_negative(gold, answers):
    of_gold, of_answers = (set(combinations(sorted(set().union(*side)), 2)) - _pairs(side) for side in (gold, answers))
    both = len(of_gold & of_answers)
    return both, len(of_answers) - both, both, len(of_gold) - both


def ceaf_mention(gold, answers):
    best = _best(gold, answers, lambda k, r: len(k & r))
    return best, sum(map(len, answers)) - best, best, sum(map(len, gold)) - best


def ceaf_entity(gold, answers):
    best = _best(gold, answers, lambda k, r: Fraction(2 * len(k & r), len(k) + len(r)))
    return best, len(answers) - best, best, len(gold) - best


def _best(gold, answers, alike):
    few, many = sorted((gold, answers), key=len)
    orders = permutations(many, len(few))
    return max((sum(alike(k, r) for k, r in zip(few, order, strict=True)) for order in orders), default=0)
