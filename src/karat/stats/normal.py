"""The standard normal distribution."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statistics import NormalDist


def normal_quantile(share: float) -> float:
    """The value below which a share of the distribution lies."""
    return _normal().inv_cdf(share)


def normal_share(value: float) -> float:
    """The share of the distribution that lies below a value."""
    return _normal().cdf(value)


@cache
def _normal() -> NormalDist:
    from statistics import NormalDist  # which imports fractions and random numbers: not for a score alone

    return NormalDist()
