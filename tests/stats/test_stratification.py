"""Items are divided into parts with given shares of their sizes and values."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from karat.stats.stratification import assign_parts

EIGHT_ONE_ONE = [Fraction(8, 10), Fraction(1, 10), Fraction(1, 10)]


@st.composite
def share_lists(draw):
    weights = draw(st.lists(st.integers(1, 9), min_size=2, max_size=4))
    return [Fraction(weight, sum(weights)) for weight in weights]


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=60), share_lists(), st.integers(0, 5))
def test_every_part_gets_its_share_of_each_value_up_to_less_than_one_item(values, shares, seed):
    parts = assign_parts([1] * len(values), [{value: 1} for value in values], shares, seed)
    for value in set(values):
        own = [part for part, item in zip(parts, values, strict=True) if item == value]
        for number, share in enumerate(shares):
            assert abs(own.count(number) - share * len(own)) < 1


@given(st.integers(1, 60), share_lists(), st.integers(0, 5))
def test_without_values_every_part_gets_its_share_of_items(count, shares, seed):
    parts = assign_parts([1] * count, [{}] * count, shares, seed)
    assert all(abs(parts.count(number) - share * count) < 1 for number, share in enumerate(shares))


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, 4), max_size=3), min_size=1, max_size=30),
    share_lists(),
    st.integers(0, 5),
)
def test_every_item_has_one_part_and_the_seed_decides_which(counts, shares, seed):
    parts = assign_parts([1] * len(counts), counts, shares, seed)
    assert len(parts) == len(counts)
    assert set(parts) <= set(range(len(shares)))
    assert parts == assign_parts([1] * len(counts), counts, shares, seed)


def test_many_rare_values_do_not_all_go_to_the_largest_part():
    counts = [{f"value {number}": 1} for number in range(100)]
    parts = assign_parts([1] * 100, counts, EIGHT_ONE_ONE, 0)
    assert [parts.count(number) for number in range(3)] == [80, 10, 10]
    several = [{**item, f"other {number}": 1} for number, item in enumerate(counts)]
    parts = assign_parts([1] * 100, several, EIGHT_ONE_ONE, 0)
    assert [parts.count(number) for number in range(3)] == [80, 10, 10]


def test_items_with_several_values_are_balanced_by_moves_and_swaps():
    # Four items with 3 a, four with 3 b, and two with 1 a and 1 b: halves with 7 a and 7 b each exist.
    counts = [{"a": 3}] * 4 + [{"b": 3}] * 4 + [{"a": 1, "b": 1}] * 2
    parts = assign_parts([1] * 10, counts, [Fraction(1, 2)] * 2, 0)
    for value in "ab":
        sums = [
            sum(item.get(value, 0) for item, own in zip(counts, parts, strict=True) if own == part) for part in (0, 1)
        ]
        assert sums == [7, 7]
    assert parts.count(0) == 5
