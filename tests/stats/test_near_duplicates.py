"""Near-duplicates share most runs of words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from karat.stats.near_duplicates import MIN_RUNS, MIN_SHARED, RUN_LENGTH, TextIndex

WORDS = st.lists(st.sampled_from(["one", "two", "three", "four"]), max_size=14).map(" ".join)


def runs_of(text):
    words = text.split()
    return {tuple(words[i : i + RUN_LENGTH]) for i in range(max(len(words) - RUN_LENGTH + 1, 1))}


@given(st.lists(WORDS, max_size=6))
def test_pairs_are_those_that_share_enough_runs(texts):
    expected = []
    for first in range(len(texts)):
        for second in range(first + 1, len(texts)):
            runs = runs_of(texts[first]), runs_of(texts[second])
            smaller = min(map(len, runs))
            if smaller >= MIN_RUNS and len(runs[0] & runs[1]) / smaller >= MIN_SHARED:
                expected.append((first, second))
    assert list(TextIndex(texts).find_pairs()) == expected


def test_a_text_inside_another_is_its_near_duplicate():
    index = TextIndex(["a b c d e f g h i j k l m n", "x y z"])
    assert list(index.find_similar("C d e f, g h i j k!")) == [(0, 1.0)]
    assert list(index.find_similar("x y z")) == []
    assert index.is_short.tolist() == [False, True]
    assert list(TextIndex([]).find_similar("a b c d e f g h i")) == []
