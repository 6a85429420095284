"""McNemar's test of two systems on the same mentions.

McNemar, Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages, Psychometrika
12(2), 1947. The exact test is the sign test on the mentions that only one system gets correct.
"""

from __future__ import annotations

from math import erfc, exp, lgamma, log, sqrt
from typing import Final, NamedTuple

_MAX_EXACT: Final = 10_000
"""The largest number of discordant mentions for the exact test."""


class McNemarResult(NamedTuple):
    """The result of McNemar's test."""

    only_first: int
    """The number of mentions that only the first system gets correct."""
    only_second: int
    """The number of mentions that only the second system gets correct."""
    p: float | None
    """The two-sided p-value; None if no mention is discordant."""
    is_exact: bool
    """Whether the p-value is exact."""


def mcnemar_from_counts(only_first: int, only_second: int) -> McNemarResult:
    """Test whether two systems get equally many mentions correct, given how many only the one or the other does.

    The test assumes independent mentions. Mentions of one document usually depend on each other; if few documents
    decide, resampling documents is better.
    """
    n_discordant = only_first + only_second
    if not n_discordant:
        return McNemarResult(0, 0, None, is_exact=True)
    smaller = min(only_first, only_second)
    if n_discordant <= _MAX_EXACT:
        return McNemarResult(only_first, only_second, _two_sided_p(smaller, n_discordant), is_exact=True)
    # With continuity correction; the square root of the chi-squared statistic is normal.
    z = max(abs(only_first - only_second) - 1, 0) / sqrt(n_discordant)
    return McNemarResult(only_first, only_second, erfc(z / sqrt(2)), is_exact=False)


def _two_sided_p(smaller: int, n_tosses: int) -> float:
    """Return the probability that heads or tails come at most `smaller` times in `n_tosses` fair coin tosses."""
    total = lgamma(n_tosses + 1) - n_tosses * log(2)
    tail = sum(exp(total - lgamma(k + 1) - lgamma(n_tosses - k + 1)) for k in range(smaller + 1))
    return min(1.0, 2 * tail)
