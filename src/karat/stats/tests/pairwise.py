"""All pairs of systems over several strata at once: do their means differ by more than chance?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np

from karat.errors import UsageError
from karat.model.tables.columns import Floats, Longs
from karat.stats.tests.contrast import Measure

_CELLS: Final = 1 << 17
"""How many coins are held at once: so few that they stay in the cache."""

_NEAR: Final = 1e-9
"""Differences that are equal but for rounding are equal."""


def mean_swap_tests(strata: Sequence[Floats], measure: Measure, *, trials: int = 10_000, seed: int = 0) -> Floats:
    """For each pair of systems the p-value of the difference of their means over strata, two-sided.

    A stratum is an array of statistics that add: documents × systems × columns; each counts alike, and the measure
    must be defined in it for all systems. For every document of every stratum a coin is thrown; where it shows heads,
    the two systems of a pair change places. One throw of all coins serves all pairs, each of which is tested as by
    `karat.stats.tests.paired.permutation_test`. Pairs are those of `itertools.combinations`.
    """
    if trials < 1:
        raise UsageError(f"trials is {trials}. Give a number of at least 1.")
    pairs = np.array(list(combinations(range(strata[0].shape[1]), 2)), np.int64).reshape(-1, 2).T
    observed: Floats = np.zeros(pairs.shape[1])
    drawn = np.zeros((trials, pairs.shape[1]))
    for place, rows in enumerate(strata):
        values = measure(rows.sum(axis=0))
        observed += values[pairs[0]] - values[pairs[1]]
        own = int(np.random.SeedSequence((seed, place)).generate_state(1)[0])
        _add(drawn, rows, pairs, measure, own)
    # A throw that leaves nothing to compare speaks for no difference.
    found = (~(np.abs(drawn) < np.abs(observed) * (1 - _NEAR))).sum(axis=0)
    p: Floats = (found + 1) / (trials + 1)
    return p


def _add(drawn: Floats, rows: Floats, pairs: Longs, measure: Measure, seed: int) -> None:
    """Add the differences in one stratum, throw by throw."""
    first, second = pairs
    totals = rows.sum(axis=0)
    changes = (rows[:, second] - rows[:, first]).reshape(len(rows), len(first) * rows.shape[2])
    flat = changes[changes.any(axis=1)]
    if not len(flat):  # all systems are alike, whatever the coins show
        drawn += measure(totals[first]) - measure(totals[second])
        return
    flat = flat[np.lexsort(flat.T)]  # so that the order of documents does not matter
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // len(flat))
    for start in range(0, len(drawn), step):
        block = drawn[start : start + step]
        words = rng.integers(0, 2**64, size=(len(block), -(-len(flat) // 64)), dtype=np.uint64)
        heads = np.unpackbits(words.view(np.uint8), axis=1)[:, : len(flat)].astype(np.float64)
        moved = (heads @ flat).reshape(len(block), len(first), -1)
        block += measure(totals[first] + moved) - measure(totals[second] - moved)
