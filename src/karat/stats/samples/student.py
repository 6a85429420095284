"""Quantiles of Student's t distribution."""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import Final

from karat.model.errors import UsageError
from karat.stats.normal import normal_quantile

_SERIES: Final = (
    (4, (1, 1)),
    (96, (3, 16, 5)),
    (384, (-15, 17, 19, 3)),
    (92160, (-945, -1920, 1482, 776, 79)),
)
"""The terms for each power of 1 / degrees of freedom: divisor, and factors of z, z³, z⁵, …"""


def t_quantile(probability: float, degrees_of_freedom: int) -> float:
    """Return the value below which a share `probability` of Student's t distribution is.

    Exact for 1 and 2 degrees of freedom, otherwise the Cornish-Fisher series (Abramowitz and Stegun, 26.7.5). From 3
    degrees on its error is below 1 % for probabilities from 0.005 to 0.995, and decreases quickly with more.
    """
    if not 0 < probability < 1 or degrees_of_freedom < 1:
        raise UsageError(
            f"probability is {probability}, degrees_of_freedom is {degrees_of_freedom}. "
            "Give a probability between 0 and 1 and at least 1 degree."
        )
    if degrees_of_freedom == 1:
        return -cos(pi * probability) / sin(pi * probability)
    if degrees_of_freedom == 2:
        return (2 * probability - 1) / sqrt(2 * probability * (1 - probability))
    z = normal_quantile(probability)
    quantile = z
    for power, (divisor, factors) in enumerate(_SERIES, 1):
        quantile += sum(factor * z ** (2 * i + 1) for i, factor in enumerate(factors)) / (
            divisor * degrees_of_freedom**power
        )
    return quantile
