"""The standard normal distribution."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statistics import NormalDist


def normal_quantile(probability: float) -> float:
    """Return the value below which a share `probability` of the standard normal distribution is."""
    return _normal().inv_cdf(probability)


def normal_cdf(value: float) -> float:
    """Return the share of the standard normal distribution below `value`."""
    return _normal().cdf(value)


@cache
def _normal() -> NormalDist:
    """Return the standard normal distribution."""
    from statistics import NormalDist  # imported late: slow to import, and not needed for plain scores

    return NormalDist()
