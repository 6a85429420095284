"""Two systems on the same mentions: do they differ in how many they get right?

McNemar, Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages, Psychometrika
12(2), 1947; the exact test is the sign test on the mentions that one gets and the other does not.
"""

from __future__ import annotations

from math import erfc, exp, lgamma, log, sqrt
from typing import Final, NamedTuple

import numpy as np

from karat.errors import UsageError
from karat.model.tables.columns import Bools

_EXACT: Final = 10_000
"""Up to so many mentions that tell the systems apart the test is exact."""


class McNemar(NamedTuple):
    """Mentions that only the first gets right, those that only the second does, and the p-value, two-sided.

    The p-value is None where no mention tells the systems apart.
    """

    only_one: int
    only_two: int
    p: float | None
    exact: bool


def mcnemar(one: Bools, two: Bools) -> McNemar:
    """The test on what each system got right, mention by mention.

    Mentions are taken as independent of each other. Within a document they are not, as a rule: where the same few
    documents decide, drawing documents says more.
    """
    if len(one) != len(two):
        raise UsageError(f"{len(one)} and {len(two)} mentions cannot be compared. Give the same mentions for both.")
    return mcnemar_of_counts(int(np.sum(one & ~two)), int(np.sum(two & ~one)))


def mcnemar_of_counts(only_one: int, only_two: int) -> McNemar:
    """The same from the two numbers that matter."""
    apart = only_one + only_two
    if not apart:
        return McNemar(0, 0, None, exact=True)
    less = min(only_one, only_two)
    if apart <= _EXACT:
        return McNemar(only_one, only_two, _two_tails(less, apart), exact=True)
    # With continuity correction; the square root of the chi-squared statistic is normal.
    z = max(abs(only_one - only_two) - 1, 0) / sqrt(apart)
    return McNemar(only_one, only_two, erfc(z / sqrt(2)), exact=False)


def _two_tails(less: int, coins: int) -> float:
    """The chance that of some coins no more than `less`, or as few of the other side, show heads."""
    total = lgamma(coins + 1) - coins * log(2)
    tail = sum(exp(total - lgamma(k + 1) - lgamma(coins - k + 1)) for k in range(less + 1))
    return min(1.0, 2 * tail)
