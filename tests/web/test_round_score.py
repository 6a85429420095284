"""Scores on pages have the last digit that commands print."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from karat.web.archive.rounding import round_score


@given(st.integers(0, 2000), st.integers(1, 2000))
@example(208, 382)  # 0.5445026: printed as 54.5, but 0.5445 is printed as 54.4
def test_a_percentage_is_printed_as_that_of_the_exact_score(part, whole):
    value = part / whole
    rounded = round_score(value)
    assert f"{100 * rounded:.1f}" == f"{100 * value:.1f}"
    assert abs(rounded - value) <= 0.5e-5


def test_undefined_scores_stay_undefined():
    assert [round_score(value) for value in (None, float("nan"), float("inf"))] == [None] * 3
