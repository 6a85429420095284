"""Wilson's interval."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.errors import UsageError
from karat.stats.samples.confidence_intervals import wilson_interval


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_values_of_newcombe(part, whole, low, high):
    """Newcombe, Statistics in Medicine 17, 1998, table I, method 3."""
    assert wilson_interval(part, whole) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 200), st.integers(1, 200), st.floats(0.5, 0.999))
def test_the_ends_are_where_the_score_test_rejects(part, more, level):
    whole = part + more
    found = wilson_interval(part, whole, level)
    z = math.sqrt(2) * _inverse_erf(level)
    for end in found:
        if 0 < end < 1 and not (end == found.low and part == 0):
            assert abs(part / whole - end) == pytest.approx(z * math.sqrt(end * (1 - end) / whole), rel=1e-6)
    other = wilson_interval(whole - part, whole, level)
    assert (1 - other.high, 1 - other.low) == pytest.approx((found.low, found.high))


def _inverse_erf(value):
    low, high = 0.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < value else (low, middle)
    return low


def test_nothing_of_nothing_has_no_share():
    assert wilson_interval(0, 0) is None
    assert wilson_interval(0, 5).low == 0
    assert wilson_interval(5, 5).high == 1


def test_what_is_no_share_is_refused():
    with pytest.raises(UsageError, match="6 of 5 is not a proportion"):
        wilson_interval(6, 5)
    with pytest.raises(UsageError, match="confidence is 95"):
        wilson_interval(1, 5, 95)
