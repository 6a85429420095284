"""Quantiles of Student's t distribution."""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import Final

from karat.errors import UsageError
from karat.stats.normal import normal_quantile

_TERMS: Final = (
    (4, (1, 1)),
    (96, (3, 16, 5)),
    (384, (-15, 17, 19, 3)),
    (92160, (-945, -1920, 1482, 776, 79)),
)
"""What is added to the normal quantile z for each power of 1 / freedom: divisor, and factors of z, z³, z⁵, …"""


def t_quantile(share: float, freedom: int) -> float:
    """The value below which a share of the distribution lies.

    Exact for 1 and 2 degrees of freedom, else the series of Cornish and Fisher (Abramowitz and Stegun, 26.7.5): the
    error is below 1 % from 3 degrees on for shares from 0.005 to 0.995, and vanishes quickly with more.
    """
    if not 0 < share < 1 or freedom < 1:
        raise UsageError(f"share is {share} and freedom {freedom}. Give a share between 0 and 1 and at least 1 degree.")
    if freedom == 1:
        return -cos(pi * share) / sin(pi * share)
    if freedom == 2:
        return (2 * share - 1) / sqrt(2 * share * (1 - share))
    z = normal_quantile(share)
    found = z
    for power, (divisor, factors) in enumerate(_TERMS, 1):
        found += sum(factor * z ** (2 * i + 1) for i, factor in enumerate(factors)) / (divisor * freedom**power)
    return found
