"""Permutation tests of all pairs of systems over several strata."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np

from karat.model.errors import UsageError
from karat.model.tables.columns import Floats, Longs
from karat.stats.significance.contrast import TotalsMeasure

_MAX_CELLS: Final = 1 << 17
"""The number of random bits held at once; few enough to stay in the cache."""

_TOLERANCE: Final = 1e-9
"""The relative difference below which values count as equal."""


def mean_difference_tests(
    strata: Sequence[Floats], measure: TotalsMeasure, *, trials: int = 10_000, seed: int = 0
) -> Floats:
    """Return the two-sided p-value of the difference of two systems' means over strata, for each pair of systems.

    A stratum, such as a dataset, is an array of additive statistics: documents × systems × columns. All strata have
    equal weight, and the measure must be defined in each for all systems. In each document the two systems' outputs are
    swapped with probability 0.5. All pairs share the permutations and are tested as by
    `karat.stats.significance.paired.permutation_test`. Pairs are in the order of `itertools.combinations`.
    """
    if trials < 1:
        raise UsageError(f"trials is {trials}. Give a number of at least 1.")
    pairs = np.array(list(combinations(range(strata[0].shape[1]), 2)), np.int64).reshape(-1, 2).T
    observed: Floats = np.zeros(pairs.shape[1])
    permuted = np.zeros((trials, pairs.shape[1]))
    for index, rows in enumerate(strata):
        values = measure(rows.sum(axis=0))
        observed += values[pairs[0]] - values[pairs[1]]
        stratum_seed = int(np.random.SeedSequence((seed, index)).generate_state(1)[0])
        _add_permuted_differences(permuted, rows, pairs, measure, stratum_seed)
    # A permutation with an undefined difference counts as extreme.
    n_extreme = (~(np.abs(permuted) < np.abs(observed) * (1 - _TOLERANCE))).sum(axis=0)
    p: Floats = (n_extreme + 1) / (trials + 1)
    return p


def _add_permuted_differences(permuted: Floats, rows: Floats, pairs: Longs, measure: TotalsMeasure, seed: int) -> None:
    """Add to `permuted` (permutations × pairs) the differences of the measure in one stratum under random swaps.

    `rows` are documents × systems × columns; `pairs` has the first and the second system of each pair.
    """
    first, second = pairs
    totals = rows.sum(axis=0)
    changes = (rows[:, second] - rows[:, first]).reshape(len(rows), len(first) * rows.shape[2])
    flat = changes[changes.any(axis=1)]
    if not len(flat):  # all systems are equal under every permutation
        permuted += measure(totals[first]) - measure(totals[second])
        return
    flat = flat[np.lexsort(flat.T)]  # makes the result independent of the order of documents
    rng = np.random.default_rng(seed)
    step = max(1, _MAX_CELLS // len(flat))
    for start in range(0, len(permuted), step):
        block = permuted[start : start + step]
        words = rng.integers(0, 2**64, size=(len(block), -(-len(flat) // 64)), dtype=np.uint64)
        is_swapped = np.unpackbits(words.view(np.uint8), axis=1)[:, : len(flat)].astype(np.float64)
        change = (is_swapped @ flat).reshape(len(block), len(first), -1)
        block += measure(totals[first] + change) - measure(totals[second] - change)
