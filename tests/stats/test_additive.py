"""Scores as functions of sums: equal documents count as often as they occur, and order means nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from karat.model.errors import UsageError
from karat.model.results.statistics import ratio
from karat.stats.samples.additive import (
    AdditiveScore,
    combine_scores,
    make_difference,
    make_mean_score,
    resample_scores,
    standard_error,
)
from karat.stats.samples.bootstrap import count_distinct_rows, resample_totals
from tests.stats.corpora import f1_of, macro, micro, precision_of

WEIGHTS = arrays.arrays(np.float64, st.tuples(st.integers(1, 30), st.just(4)), elements=st.integers(0, 4).map(float))
FRACTIONS = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 30), st.just(4)), elements=st.integers(0, 300).map(lambda n: n / 100)
)


def shuffled(weights, rng):
    order = list(range(len(weights)))
    rng.shuffle(order)
    return weights[order]


@given(WEIGHTS | FRACTIONS)
def test_the_value_is_that_of_the_sums(weights):
    expected = f1_of(weights.sum(axis=0)[None])[0]
    assert micro(weights).value == pytest.approx(expected, nan_ok=True)
    values = f1_of(weights)
    defined = values[~np.isnan(values)]
    mean = defined.mean() if len(defined) else np.nan
    assert macro(weights).value == pytest.approx(mean, nan_ok=True)


@given(WEIGHTS | FRACTIONS)
def test_leaving_out_one_document_is_what_it_says(weights):
    without, times = micro(weights).leave_one_out()
    plain = [f1_of(np.delete(weights, place, axis=0).sum(axis=0)[None])[0] for place in range(len(weights))]
    assert times.sum() == len(weights)
    np.testing.assert_allclose(np.sort(np.repeat(without, times)), np.sort(plain), atol=1e-9)


@given(WEIGHTS | FRACTIONS, st.randoms())
def test_samples_are_the_same_in_any_order(weights, rng):
    one = resample_scores([micro(weights), macro(weights)], 20, 3)
    two = resample_scores([micro(each := shuffled(weights, rng)), macro(each)], 20, 3)
    np.testing.assert_array_equal(one, two)


@given(arrays.arrays(np.float64, st.tuples(st.integers(0, 40), st.integers(1, 3)), elements=st.integers(-3, 3)))
def test_distinct_rows_are_those_that_occur(weights):
    found = count_distinct_rows(weights)
    rows, times = np.unique(weights, axis=0, return_counts=True)
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.counts, times)


@pytest.mark.parametrize(
    "weights",
    [
        np.array([[1e9, 1], [1e9, 1], [0, 1e9]]),
        np.array([[0.5, 1], [0.5, 1], [1.5, 1]]),
        np.array([[0.1, 1], [0.3, 1], [0.1, 1]]),
        np.array([[np.nan, 1], [0.0, 1]]),
        np.array([[1e300, 1], [-1e300, 1]]),
    ],
    ids=["large", "halves", "tenths", "undefined", "huge"],
)
def test_rows_of_any_numbers_are_told_apart(weights):
    found = count_distinct_rows(weights)
    rows, times = np.unique(weights, axis=0, return_counts=True)
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.counts, times)


def test_what_shares_a_base_shares_the_draws():
    weights = np.random.default_rng(0).integers(0, 5, (40, 4)).astype(float)
    together = resample_scores([AdditiveScore(weights, f1_of), AdditiveScore(weights, precision_of)], 50, 7)
    np.testing.assert_array_equal(together[0], f1_of(resample_totals(weights, 50, 7)))
    np.testing.assert_array_equal(together[1], precision_of(resample_totals(weights, 50, 7)))


def test_silent_documents_are_drawn_and_add_nothing():
    weights = np.array([[2.0, 1.0], [1.0, 3.0]])
    plain = AdditiveScore(np.vstack([weights, np.zeros((5, 2))]), lambda sums: sums[:, 0])
    short = AdditiveScore(weights, lambda sums: sums[:, 0], n_empty_documents=5)
    assert len(short) == len(plain) == 7
    assert short.value == plain.value == 3
    drawn = resample_scores([plain, short], 4000, 0)
    np.testing.assert_allclose(drawn[0].mean(), drawn[1].mean(), rtol=0.05)
    np.testing.assert_allclose(drawn[0].std(), drawn[1].std(), rtol=0.05)
    assert short.leave_one_out()[1].sum() == 7


def test_differences_and_means_of_scores():
    rng = np.random.default_rng(1)
    one, two = rng.integers(0, 5, (2, 30, 4)).astype(float)
    assert make_difference(micro(one), micro(two)).value == pytest.approx(micro(one).value - micro(two).value)
    mean = combine_scores([micro(one), macro(two)], lambda values: values.mean(axis=1))
    assert mean.value == pytest.approx((micro(one).value + macro(two).value) / 2)
    drawn = resample_scores([make_difference(micro(one), micro(one))], 20, 0)[0]
    assert not drawn.any()
    with pytest.raises(UsageError, match="30 and 29 documents"):
        make_difference(micro(one), micro(two[1:]))


def test_the_standard_error_of_a_mean_is_what_the_formula_says():
    values = np.random.default_rng(2).normal(size=400)
    assert standard_error(make_mean_score(values), 4000) == pytest.approx(values.std() / 20, rel=0.05)
    assert standard_error(make_mean_score(np.full(4, np.nan))) is None


def test_the_influence_of_a_document_is_its_share_of_the_jackknife_variance():
    # Precision 3 of 4: the documents have 2 of 3, 1 of 1 and no prediction.
    score = AdditiveScore(np.array([[2.0, 3.0], [1.0, 1.0], [0.0, 0.0]]), lambda sums: ratio(sums[:, 0], sums[:, 1]))
    without_first, without_second = (1 / 1 - 3 / 4) ** 2, (2 / 3 - 3 / 4) ** 2
    assert score.largest_influence == pytest.approx(without_first / (without_first + without_second))


def test_equal_documents_have_equal_influence():
    base = np.array([[1.0, 2.0]] * 3 + [[2.0, 2.0]])
    score = AdditiveScore(base, lambda sums: ratio(sums[:, 0], sums[:, 1]))
    changes = [(5 - 1) / 6 - 5 / 8] * 3 + [(5 - 2) / 6 - 5 / 8]
    assert score.largest_influence == pytest.approx(max(np.square(changes)) / sum(np.square(changes)))
