"""Corpora made by chance, as statistics of documents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karat.stats.samples.additive import AdditiveScore, make_mean_score


class Kind(NamedTuple):
    """How documents of a corpus come about: mentions per document, and how likely each is found (beta)."""

    mentions: float = 10.0
    right: float = 5.0
    wrong: float = 2.0


USUAL = Kind()


def drawn(rng, documents, kind=USUAL, better=0.0):
    """The four weights of one system; `better` adds to the chance that a mention is found."""
    size = 1 + rng.poisson(rng.gamma(2.0, kind.mentions / 2, documents))
    chance = rng.beta(kind.right, kind.wrong, documents)
    return answered(rng, size, chance, better)


def answered(rng, size, chance, better=0.0):
    found = rng.binomial(size, np.clip(chance + better, 0, 1))
    spare = rng.binomial(size - found, 0.6) + rng.poisson(0.05 * size)
    return np.column_stack([found, spare, found, size - found]).astype(float)


def two_systems(rng, documents, kind=USUAL, better=0.0):
    """Two systems on the same documents, which are as hard for the one as for the other."""
    size = 1 + rng.poisson(rng.gamma(2.0, kind.mentions / 2, documents))
    chance = rng.beta(kind.right, kind.wrong, documents)
    return answered(rng, size, chance), answered(rng, size, chance, better)


def f1_of(sums):
    below = 2 * sums[:, 0] + sums[:, 1] + sums[:, 3]
    return np.divide(2 * sums[:, 0], below, out=np.full(len(sums), np.nan), where=below > 0)


def precision_of(sums):
    below = sums[:, 0] + sums[:, 1]
    return np.divide(sums[:, 0], below, out=np.full(len(sums), np.nan), where=below > 0)


def micro(weights):
    return AdditiveScore(weights, f1_of)


def macro(weights):
    return make_mean_score(f1_of(weights))


def distance(p):
    """How far p-values are from uniform: the statistic of Kolmogorov and Smirnov."""
    p = np.sort(p)
    steps = np.arange(len(p) + 1) / len(p)
    return max(np.max(steps[1:] - p), np.max(p - steps[:-1]))
