"""Sums are exact before they are rounded, whatever the order and however they are added."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from karat.model.results import statistics

SHARES = st.builds(lambda part, whole: part / whole, st.integers(0, 30), st.integers(30, 60))
NUMBERS = SHARES | st.floats(-1, 1) | st.sampled_from([0.0, -0.0, 1.0, 5e-324, 2.0**-60])
ANY = NUMBERS | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(
    values=arrays.arrays(np.float64, st.integers(0, 30), elements=SHARES)
    | arrays.arrays(np.float64, st.integers(0, 30), elements=NUMBERS)
    | arrays.arrays(np.float64, st.integers(0, 30), elements=ANY),
    times=st.sampled_from([1, 100]),
)
def test_a_sum_is_rounded_once(values, times):
    many = np.tile(values, times)
    assert statistics.exact_sum(many) == math.fsum(many.tolist())
