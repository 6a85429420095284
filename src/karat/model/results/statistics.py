"""The additive statistics of documents, from which most measures are computed."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from karat.model.tables.columns import Floats


class Statistics(msgspec.Struct, frozen=True):
    """The sums of the four `Weights` of the verdicts in each document.

    The statistics of a union of documents are the sum of their statistics. With whole weights the first column counts
    true positives, the second false positives and the last false negatives.
    """

    weights: Floats
    """One row per document, with the columns of `karat.model.results.verdict.Weights`."""

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def matched_predictions(self) -> Floats:
        """The summed weight of correct predictions in each document."""
        return self.weights[:, 0]

    @property
    def predictions(self) -> Floats:
        """The summed weight of all predictions in each document."""
        return self.weights[:, 0] + self.weights[:, 1]

    @property
    def matched_gold(self) -> Floats:
        """The summed weight of the gold mentions that were found, in each document."""
        return self.weights[:, 2]

    @property
    def gold(self) -> Floats:
        """The summed weight of all gold mentions in each document."""
        return self.weights[:, 2] + self.weights[:, 3]

    def total(self) -> Statistics:
        """Return the sums over all documents, as statistics with a single row."""
        return Statistics(self.weights.sum(axis=0, keepdims=True))


_FEW, _MANY = 1_000, 1 << 26  # `math.fsum` is faster for fewer values; sums of more values could round
_BITS = 26  # per digit: sums of `_MANY` digits stay below 2 ** 53 and are exact


def exact_sum(values: Floats) -> float:
    """Return the sum of `values`, rounded once, like `math.fsum`; faster for many values between -1 and 1."""
    if _FEW <= len(values) <= _MANY and np.abs(values).max() <= 1:
        total, rest = 0, values
        for n_digits in range(1, 5):
            rest = rest * (1 << _BITS)
            whole = np.floor(rest)
            rest -= whole
            total = (total << _BITS) + int(whole.sum())
            if not rest.any():
                return total / (1 << (_BITS * n_digits))
    return math.fsum(values.tolist())


def ratio(part: Floats, whole: Floats) -> Floats:
    """Return `part / whole`, NaN where `whole` is zero."""
    shares: Floats = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole != 0)
    return shares
