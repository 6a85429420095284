"""The addable statistics of documents: all that most measures need."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from karat.model.tables.columns import Floats


class Statistics(msgspec.Struct, frozen=True):
    """Per document the sums of the four weights of its verdicts.

    They add: the statistics of a union of documents are the sum of theirs. With whole weights the first column
    holds true positives, the second false positives and the last false negatives.
    """

    weights: Floats
    """One row per document; columns as in `karat.model.verdict.Weights`."""

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def matched_answers(self) -> Floats:
        """Answers that are right."""
        return self.weights[:, 0]

    @property
    def answers(self) -> Floats:
        """Answers that count."""
        return self.weights[:, 0] + self.weights[:, 1]

    @property
    def matched_gold(self) -> Floats:
        """Gold mentions that were found."""
        return self.weights[:, 2]

    @property
    def gold(self) -> Floats:
        """Gold mentions that count."""
        return self.weights[:, 2] + self.weights[:, 3]

    def total(self) -> Statistics:
        """The sum over all documents, as one row."""
        return Statistics(self.weights.sum(axis=0, keepdims=True))


_FEW, _MANY = 1_000, 1 << 26  # numbers that are added faster one by one, and too many to be added in pieces
_BITS = 26  # of a piece: so many of them sum up to less than 2 ** 53, without rounding


def exact_sum(values: Floats) -> float:
    """The sum, rounded once, as `math.fsum` gives it; of many numbers from -1 to 1 some bits are added at a time."""
    if _FEW <= len(values) <= _MANY and np.abs(values).max() <= 1:
        total, rest = 0, values
        for pieces in range(1, 5):
            rest = rest * (1 << _BITS)
            whole = np.floor(rest)
            rest -= whole
            total = (total << _BITS) + int(whole.sum())
            if not rest.any():
                return total / (1 << (_BITS * pieces))
    return math.fsum(values.tolist())


def ratio(part: Floats, whole: Floats) -> Floats:
    """`part / whole`, NaN where the whole is zero."""
    shares: Floats = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole != 0)
    return shares
