"""Permutation tests of each system against the others over several strata.

Noreen, Computer-Intensive Methods for Testing Hypotheses, 1989; Yeh, More Accurate Tests for the Statistical
Significance of Result Differences, COLING 2000.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from karat.model.errors import UsageError
from karat.model.tables.columns import Bools, Floats
from karat.stats.significance.contrast import TotalsMeasure, mean_over_strata

_MAX_CELLS: Final = 1 << 21
"""The number of values held at once, 8 bytes each."""

_TOLERANCE: Final = 1e-9
"""The relative difference below which values count as equal."""


def swap_test(
    strata: Sequence[Floats],
    measure: TotalsMeasure,
    *,
    denominator: TotalsMeasure | None = None,
    resamples: int = 9999,
    seed: int = 0,
) -> Floats:
    """Return the two-sided p-value of each system's difference to the others; NaN if no stratum is complete.

    A stratum, such as a dataset, is an array of additive statistics: documents × systems × columns. `measure` maps
    totals (systems × columns) to values. A stratum in which a system's value is undefined is skipped.

    Statistic: `contrast.mean_differences`, the mean over strata and over the other systems of the system's measure
    minus theirs. Null hypothesis: in each document the system and the others are exchangeable, so that the difference
    is equally likely with the opposite sign.

    Procedure: in each document, with probability 0.5, the system's rows are swapped with those of each other system,
    and the measures are recomputed from the totals. The p-value is the share of permutations, including the observed
    one, with an absolute difference at least as large. If there are at most `resamples` permutations, all are
    enumerated and the p-value is exact. The order of documents does not matter.

    Validity: for two systems this is approximate randomisation, exact for any measure if they are exchangeable in each
    document. For several systems and a measure that is a sum over documents, it is Fisher's sign test of each
    document's difference to the mean of the others: exact if these are symmetric around 0, and asymptotically valid if
    their mean is 0. For ratios this holds approximately if the systems have similar denominators. Otherwise, as when
    one system finds far fewer mentions, swapping also swaps the sizes and yields far too many false positives. For such
    measures `denominator` returns the denominator of totals: rows are divided by their system's denominator before
    swapping. The measure must be invariant to a common factor of all its columns.
    """
    if resamples < 1:
        raise UsageError(f"resamples is {resamples}. Give a number of at least 1.")
    if not strata:
        raise UsageError("there are no documents to compare. Give at least one stratum.")
    swaps = [
        _prepare_swaps(stratum, denominator) for stratum in strata if not np.isnan(measure(stratum.sum(axis=0))).any()
    ]
    if not swaps:
        return np.full(strata[0].shape[1], np.nan)
    n_documents = sum(len(stratum.changes) for stratum in swaps)
    observed = _permuted_differences(swaps, measure, np.zeros((1, n_documents), np.bool_))[0]
    is_exact = n_documents < 63 and 2**n_documents <= resamples
    width = max([n_documents, *(stratum.changes[0].size for stratum in swaps if len(stratum.changes))], default=1)
    step = max(1, _MAX_CELLS // max(1, width))
    n_extreme = np.zeros(observed.shape)
    for is_swapped in (
        _enumerate_swaps(n_documents, step) if is_exact else _draw_swaps(n_documents, resamples, step, seed)
    ):
        permuted = np.abs(_permuted_differences(swaps, measure, is_swapped))
        # A permutation with an undefined difference counts as extreme.
        n_extreme += (~(permuted < np.abs(observed) * (1 - _TOLERANCE))).sum(axis=0)
    p = n_extreme / 2**n_documents if is_exact else (n_extreme + 1) / (resamples + 1)
    return p


class _StratumSwaps(NamedTuple):
    """A stratum, prepared for swapping the rows of two systems in some documents."""

    totals: Floats
    """The unswapped totals: systems × columns."""
    changes: Floats
    """The change in the totals of a pair's first system if a document is swapped: documents × pairs × columns."""

    def differences(self, is_swapped: Bools, measure: TotalsMeasure) -> Floats:
        """Return each system's measure minus the mean of the others: permutations × systems.

        `is_swapped` says which documents each permutation swaps: permutations × documents.
        """
        n_systems = len(self.totals)
        first, second = (np.array(side, np.int64) for side in zip(*combinations(range(n_systems), 2), strict=True))
        change: Floats = np.tensordot(is_swapped.astype(np.float64), self.changes, axes=1)
        gap = measure(self.totals[first] + change) - measure(self.totals[second] - change)
        sign = np.zeros((len(first), n_systems))
        rows = np.arange(len(first))
        sign[rows, first], sign[rows, second] = 1.0, -1.0
        with np.errstate(invalid="ignore"):  # one undefined gap excludes the stratum for all systems
            differences: Floats = gap @ sign / (n_systems - 1)
        return differences


def _prepare_swaps(weights: Floats, denominator: TotalsMeasure | None) -> _StratumSwaps:
    """Return the swaps of a stratum: documents × systems × columns; documents that swapping cannot change are dropped.

    With `denominator`, rows are first divided by their system's denominator.
    """
    n_systems = weights.shape[1]
    if n_systems < 2:
        raise UsageError("a single system cannot be compared. Give at least two.")
    totals = weights.sum(axis=0)
    if denominator is not None:
        sizes = denominator(totals)
        scale = np.where(sizes > 0, sizes, 1.0)[:, None]
        weights, totals = weights / scale, totals / scale
    first, second = zip(*combinations(range(n_systems), 2), strict=True)
    changes = weights[:, list(second)] - weights[:, list(first)]
    changes = changes[changes.any(axis=(1, 2))]  # documents in which all systems are equal never change
    order = np.lexsort(changes.reshape(len(changes), -1).T) if len(changes) else slice(None)
    return _StratumSwaps(totals, changes[order])


def _permuted_differences(swaps: Sequence[_StratumSwaps], measure: TotalsMeasure, is_swapped: Bools) -> Floats:
    """Return the mean over strata of each system's difference to the others: permutations × systems.

    `is_swapped` has the documents of all strata side by side: permutations × documents.
    """
    ends = np.cumsum([len(stratum.changes) for stratum in swaps])
    masks = np.split(is_swapped, ends[:-1], axis=1)
    return mean_over_strata(stratum.differences(mask, measure) for stratum, mask in zip(swaps, masks, strict=True))


def _draw_swaps(n_documents: int, n_permutations: int, step: int, seed: int) -> Iterator[Bools]:
    """Yield which documents random permutations swap, as arrays of at most `step` permutations × documents."""
    rng = np.random.default_rng(seed)
    for start in range(0, n_permutations, step):
        yield rng.integers(0, 2, (min(step, n_permutations - start), n_documents), dtype=np.bool_)


def _enumerate_swaps(n_documents: int, step: int) -> Iterator[Bools]:
    """Yield which documents each possible permutation swaps, as arrays of at most `step` permutations × documents."""
    ways = np.arange(2**n_documents)
    for start in range(0, len(ways), step):
        yield (ways[start : start + step, None] >> np.arange(n_documents) & 1).astype(np.bool_)
