"""Tests between two systems: equal to brute force where that can be done, uniform under the null, as strong as said."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from karat.model.errors import UnknownNameError, UsageError
from karat.stats.normal import normal_cdf
from karat.stats.samples.additive import AdditiveScore, make_difference, make_mean_score, standard_error
from karat.stats.significance import paired
from karat.stats.significance.paired import bootstrap_test, effect_size, permutation_test
from karat.stats.significance.power import detectable_difference, documents_needed
from tests.stats.corpora import distance, drawn, macro, micro, precision_of, two_systems

PAIRS = arrays.arrays(np.float64, st.tuples(st.just(2), st.integers(1, 8), st.just(4)), elements=st.integers(0, 3))


def brute(one, two, score):
    """The p-value by trying all swaps."""
    observed = abs(score(one).value - score(two).value)
    if np.isnan(observed):
        return None
    extreme = 0
    for heads in product([False, True], repeat=len(one)):
        swapped = np.array(heads)[:, None]
        a, b = np.where(swapped, two, one), np.where(swapped, one, two)
        gap = abs(score(a).value - score(b).value)
        extreme += bool(np.isnan(gap) or gap >= observed - 1e-12)
    return extreme / 2 ** len(one)


@given(PAIRS)
def test_exact_tests_are_those_of_brute_force(pair):
    for score in (micro, macro):
        found = permutation_test(score(pair[0]), score(pair[1]))
        expected = brute(*pair, score)
        assert found.p == (None if expected is None else pytest.approx(expected))
        assert found.is_exact is (expected is not None)


@given(PAIRS)
def test_for_means_signs_are_swaps(pair):
    values = np.where(pair[..., 0] > 2, 1.5, pair[..., 0])  # every document has a value
    one, two = make_mean_score(values[0]), make_mean_score(values[1])
    assert permutation_test(one, two, scheme="signs").p == pytest.approx(permutation_test(one, two).p)


@given(PAIRS, st.randoms(), st.sampled_from(["systems", "signs"]))
def test_no_order_of_documents_changes_a_test(pair, rng, swap):
    order = list(range(pair.shape[1]))
    rng.shuffle(order)
    for trials in (3, 1000):
        one = permutation_test(micro(pair[0]), micro(pair[1]), scheme=swap, trials=trials)
        two = permutation_test(micro(pair[0][order]), micro(pair[1][order]), scheme=swap, trials=trials)
        assert one == two


@given(PAIRS)
def test_who_comes_first_changes_only_the_sign(pair):
    one = permutation_test(micro(pair[0]), micro(pair[1]), trials=7)
    two = permutation_test(micro(pair[1]), micro(pair[0]), trials=7)
    assert one.p == (None if two.p is None else pytest.approx(two.p))
    assert one.difference == (None if two.difference is None else pytest.approx(-two.difference))


ALL_SAMPLES = list(product(range(5), repeat=5))
SINGLE = np.random.default_rng(5).normal(0.4, 1, 13)
ALIKE = np.repeat([0.5, -0.25, 1.0], [60, 50, 7])


@pytest.mark.parametrize("swap", ["systems", "signs"])
@pytest.mark.parametrize(("values", "most"), [(SINGLE, 1 << 13), (ALIKE, 61 * 51 * 8)], ids=["coins", "binomial"])
def test_chance_comes_near_the_exact_value(values, most, swap, monkeypatch):
    one, two = make_mean_score(values), make_mean_score(np.zeros(len(values)))
    exact = permutation_test(one, two, scheme=swap, trials=most)
    assert (exact.is_exact, exact.n_permutations) == (True, most)
    thrown = permutation_test(one, two, scheme=swap, trials=5000, seed=1)
    assert (thrown.is_exact, thrown.n_permutations) == (False, 5000)
    assert thrown.p == pytest.approx(exact.p, abs=4 * (0.25 / 5000) ** 0.5)
    monkeypatch.setattr(paired, "_MAX_CELLS", 100)
    assert permutation_test(one, two, scheme=swap, trials=5000, seed=1) == thrown


def test_documents_that_change_the_same_are_thrown_together():
    """200 documents of two kinds: all 101 · 101 ways are counted, where coins would fall in 2^200."""
    one = np.repeat([[1.0, 0, 1, 1], [2, 1, 2, 0]], 100, axis=0)
    two = np.repeat([[1.0, 1, 1, 1], [1, 1, 1, 1]], 100, axis=0)
    found = permutation_test(micro(one), micro(two), trials=20_000)
    assert (found.is_exact, found.n_permutations) == (True, 101 * 101)
    thrown = permutation_test(micro(one), micro(two), trials=5000)
    assert not thrown.is_exact
    assert thrown.p == pytest.approx(1 / 5001)
    assert found.p < 1e-20


def test_equal_systems_do_not_differ():
    weights = drawn(np.random.default_rng(0), 30)
    for test in (permutation_test, bootstrap_test):
        found = test(micro(weights), micro(weights))
        assert (found.difference, found.p) == (0, 1)
    assert effect_size(micro(weights), micro(weights)) is None


def test_scores_without_value_have_no_test():
    nothing = micro(np.zeros((5, 4)))
    for test in (permutation_test, bootstrap_test):
        assert test(nothing, nothing)[:2] == (None, None)
    assert effect_size(nothing, nothing) is None


@pytest.mark.parametrize("swap", ["systems", "signs"])
def test_p_values_are_uniform_where_systems_do_not_differ(swap):
    """40 documents; the critical distance of Kolmogorov and Smirnov for 500 values at 1 % is 0.073."""
    p = []
    for seed in range(500):
        one, two = two_systems(np.random.default_rng(seed), 40)
        p.append(permutation_test(micro(one), micro(two), scheme=swap, trials=300, seed=seed).p)
    assert distance(p) < 0.073


def unequal(rng, documents=60):
    """Equal precision, but the second system predictions a tenth; documents differ much in how hard they are."""
    size = 1 + rng.poisson(rng.gamma(1, 20, documents))
    chance = rng.beta(0.8, 0.3, documents)
    few = rng.binomial(size, 0.1)
    one, two = rng.binomial(size, chance), rng.binomial(few, chance)
    pair = [[right, given - right, right, size - right] for right, given in ((one, size), (two, few))]
    return [AdditiveScore(np.column_stack(each).astype(float), precision_of) for each in pair]


def test_signs_hold_where_sizes_differ_and_swaps_do_not():
    p = {"systems": [], "signs": []}
    for seed in range(300):
        pair = unequal(np.random.default_rng(seed))
        for swap, values in p.items():
            values.append(permutation_test(*pair, scheme=swap, trials=200, seed=seed).p)
    assert distance(p["signs"]) < 0.094  # 1 % for 300 values
    assert distance(p["systems"]) > 0.3


def test_p_values_of_the_paired_bootstrap_are_nearly_uniform():
    p = []
    for seed in range(400):
        one, two = two_systems(np.random.default_rng(seed), 80)
        p.append(bootstrap_test(micro(one), micro(two), resamples=300, seed=seed).p)
    assert distance(p) < 0.0815  # 1 % for 400 values
    assert np.mean(np.array(p) <= 0.05) < 0.08


@pytest.mark.extras  # it takes long
def test_the_paired_bootstrap_comes_near_all_samples():
    """Five documents can be drawn in 5^5 ways; those without a score speak for no difference."""
    for seed in range(10):
        one, two = two_systems(np.random.default_rng(seed), 5)
        observed = micro(one).value - micro(two).value
        gaps = np.array([micro(one[rows]).value - micro(two[rows]).value for rows in map(list, ALL_SAMPLES)])
        exact = np.mean(~(np.abs(gaps - observed) < abs(observed) - 1e-12))
        found = bootstrap_test(micro(one), micro(two), resamples=4000, seed=seed)
        assert found.difference == pytest.approx(observed)
        assert found.p == pytest.approx(exact, abs=4 * (0.25 / 4000) ** 0.5)


def test_one_document_says_nothing_about_others():
    one, two = np.array([[3.0, 0, 3, 0], [0, 0, 0, 0]]), np.array([[0.0, 3, 0, 3], [0, 0, 0, 0]])
    assert bootstrap_test(micro(one), micro(two))[:2] == (1, None)


def test_a_difference_of_the_detectable_size_is_found_as_often_as_said():
    """Two systems that truly differ by what the errors of such corpora make detectable with 80 %."""
    better, documents = 0.06, 60
    many = two_systems(np.random.default_rng(9), 400_000, better=better)
    truth = micro(many[1]).value - micro(many[0]).value
    found, errors = [], []
    for seed in range(300):
        one, two = (micro(each) for each in two_systems(np.random.default_rng(seed), documents, better=better))
        found.append(permutation_test(one, two, trials=300, seed=seed).p <= 0.05)
        errors.append(standard_error(make_difference(two, one), 100, seed))
    expected = statistical_power(truth, float(np.mean(errors)))
    assert 0.5 < expected < 0.95
    assert np.mean(found) == pytest.approx(expected, abs=0.06)


def statistical_power(true_difference, error):
    """Return the probability that a two-sided test at the level 5 % detects a true difference."""
    return sum(normal_cdf(sign * true_difference / error - 1.959964) for sign in (1, -1))


def test_power_by_hand():
    """(1.960 + 0.842) · 0.01; at that size 80 % are found; four times the documents halve it."""
    size = detectable_difference(0.01)
    assert size == pytest.approx(0.02802, abs=1e-5)
    assert statistical_power(size, 0.01) == pytest.approx(0.8, abs=1e-3)
    assert statistical_power(0, 0.01) == pytest.approx(0.05)
    assert documents_needed(size / 2, 0.01, 100) == 400
    assert documents_needed(0, 0.01, 100) is None
    assert detectable_difference(0.01, confidence=0.99, power=0.9) == pytest.approx((2.5758 + 1.2816) / 100, abs=1e-5)
    with pytest.raises(UsageError, match="power is 80"):
        detectable_difference(0.01, power=80)
    with pytest.raises(UsageError, match="standard error is -1"):
        detectable_difference(-1)


def test_the_effect_of_means_is_that_of_the_paired_differences():
    rng = np.random.default_rng(3)
    one, two = rng.normal(size=(2, 25))
    gap = one - two
    assert effect_size(make_mean_score(one), make_mean_score(two)) == pytest.approx(gap.mean() / gap.std(ddof=1))
    large = [np.tile(each, 40) for each in (one, two)]
    assert effect_size(*map(make_mean_score, large)) == pytest.approx(gap.mean() / gap.std(), rel=0.01)


def test_the_effect_does_not_grow_with_documents_but_the_evidence_does():
    few, many = (two_systems(np.random.default_rng(1), n, better=0.05) for n in (2000, 8000))
    sizes = [effect_size(micro(two), micro(one)) for one, two in (few, many)]
    assert sizes[0] == pytest.approx(sizes[1], abs=3 / 2000**0.5)
    p = [permutation_test(micro(two), micro(one)).p for one, two in (few, many)]
    assert p[1] <= p[0]


def test_what_makes_no_sense_is_refused():
    score = micro(drawn(np.random.default_rng(0), 5))
    with pytest.raises(UsageError, match="trials is 0"):
        permutation_test(score, score, trials=0)
    with pytest.raises(UnknownNameError, match="permutation scheme"):
        permutation_test(score, score, scheme="all")
    with pytest.raises(UsageError, match="different kinds"):
        permutation_test(score, AdditiveScore(np.ones((5, 3)), lambda sums: sums[:, 0]))
