"""Is a difference more than chance: what it would be if systems changed places in some documents.

Noreen, Computer-Intensive Methods for Testing Hypotheses, 1989; Yeh, More Accurate Tests for the Statistical
Significance of Result Differences, COLING 2000.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from karat.errors import UsageError
from karat.model.tables.columns import Bools, Floats
from karat.stats.tests.contrast import Measure, mean_of_strata

_CELLS: Final = 1 << 21
"""How many numbers are held at once, 8 bytes each."""

_NEAR: Final = 1e-9
"""Differences that are equal but for rounding are equal."""


def swap_test(
    strata: Sequence[Floats], measure: Measure, *, size: Measure | None = None, resamples: int = 9999, seed: int = 0
) -> Floats:
    """For each system the p-value of its difference to the others, two-sided; NaN where no stratum has one for all.

    What is tested. The difference of a system is that of `contrast.differences`: the mean over strata and over the
    other systems of its measure minus theirs. The null hypothesis is that in each document the system might
    as well have had the rows of the others and they its: the difference would be as likely with the opposite sign.

    How. For every document of every stratum a coin is thrown. Where it shows heads, the system and each of the others,
    two by two, change places in this document, and the measures are taken anew from the totals. The p-value is the
    share of throws that give a difference at least as large, whatever its sign; the observed one is among them. If
    there are no more than `resamples` ways for the coins to fall, all are tried and the p-value is exact. The order of
    documents does not matter.

    What that is worth. Between two systems it is approximate randomisation, exact whatever the measure if the two are
    exchangeable in each document. Against several, and for a measure that is a sum over documents, it is Fisher's sign
    test of each document's difference to the mean of the others: exact if these are symmetric around 0, and right for
    many documents if their mean is 0, however much the others differ among themselves. For ratios that holds nearly,
    if the systems have denominators of about the same size. If not, as where one system finds far fewer mentions,
    swapping would also swap the sizes, and see differences that are none far too often. For such measures `size` says
    the denominator at given totals: rows are divided by their system's before they are swapped. The measure must not
    change if all its columns are multiplied by a number.
    """
    if resamples < 1:
        raise UsageError(f"resamples is {resamples}. Give a number of at least 1.")
    if not strata:
        raise UsageError("there are no documents to compare systems on. Give at least one stratum.")
    swaps = [_swaps(each, size) for each in strata if not np.isnan(measure(each.sum(axis=0))).any()]
    if not swaps:
        return np.full(strata[0].shape[1], np.nan)
    documents = sum(len(each.changes) for each in swaps)
    observed = _differences(swaps, measure, np.zeros((1, documents), np.bool_))[0]
    exact = documents < 63 and 2**documents <= resamples
    width = max([documents, *(each.changes[0].size for each in swaps if len(each.changes))], default=1)
    step = max(1, _CELLS // max(1, width))
    found = np.zeros(observed.shape)
    for heads in _all(documents, step) if exact else _thrown(documents, resamples, step, seed):
        drawn = np.abs(_differences(swaps, measure, heads))
        # A throw that leaves nothing to compare speaks for no difference.
        found += (~(drawn < np.abs(observed) * (1 - _NEAR))).sum(axis=0)
    p = found / 2**documents if exact else (found + 1) / (resamples + 1)
    return p


class _Swaps(NamedTuple):
    """A stratum: the totals of systems × columns, and what a swap adds to the first of each pair, by document."""

    totals: Floats
    changes: Floats

    def after(self, heads: Bools, measure: Measure) -> Floats:
        """The difference of each system to the mean of the others, for each throw."""
        systems = len(self.totals)
        first, second = (np.array(side, np.int64) for side in zip(*combinations(range(systems), 2), strict=True))
        moved: Floats = np.tensordot(heads.astype(np.float64), self.changes, axes=1)
        gap = measure(self.totals[first] + moved) - measure(self.totals[second] - moved)
        sign = np.zeros((len(first), systems))
        rows = np.arange(len(first))
        sign[rows, first], sign[rows, second] = 1.0, -1.0
        with np.errstate(invalid="ignore"):  # one gap that is not defined leaves the stratum out for all systems
            differences: Floats = gap @ sign / (systems - 1)
        return differences


def _swaps(weights: Floats, size: Measure | None) -> _Swaps:
    systems = weights.shape[1]
    if systems < 2:
        raise UsageError("a system alone cannot be compared. Give at least two.")
    totals = weights.sum(axis=0)
    if size is not None:
        sizes = size(totals)
        scale = np.where(sizes > 0, sizes, 1.0)[:, None]
        weights, totals = weights / scale, totals / scale
    first, second = zip(*combinations(range(systems), 2), strict=True)
    changes = weights[:, list(second)] - weights[:, list(first)]
    changes = changes[changes.any(axis=(1, 2))]  # a document in which all are alike stays as it is
    order = np.lexsort(changes.reshape(len(changes), -1).T) if len(changes) else slice(None)
    return _Swaps(totals, changes[order])


def _differences(swaps: Sequence[_Swaps], measure: Measure, heads: Bools) -> Floats:
    ends = np.cumsum([len(each.changes) for each in swaps])
    coins = np.split(heads, ends[:-1], axis=1)
    return mean_of_strata(each.after(own, measure) for each, own in zip(swaps, coins, strict=True))


def _thrown(documents: int, throws: int, step: int, seed: int) -> Iterator[Bools]:
    rng = np.random.default_rng(seed)
    for start in range(0, throws, step):
        yield rng.integers(0, 2, (min(step, throws - start), documents), dtype=np.bool_)


def _all(documents: int, step: int) -> Iterator[Bools]:
    """Every way for the coins to fall, the one that changes nothing first."""
    ways = np.arange(2**documents)
    for start in range(0, len(ways), step):
        yield (ways[start : start + step, None] >> np.arange(documents) & 1).astype(np.bool_)
