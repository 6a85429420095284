"""Permutation tests: exact where all ways can be tried, uniform under the null hypothesis, and sharp enough."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from karat.model.errors import UsageError
from karat.stats.significance import one_against_others
from karat.stats.significance.one_against_others import swap_test


def total(totals):
    return totals[..., 0]


def rate(totals):
    errors, whole = totals[..., 0], totals[..., 1]
    return np.divide(errors, whole, out=np.full(errors.shape, np.nan), where=whole > 0)


def size(totals):
    return totals[..., 1]


def counted(*documents):
    """One column: a row of systems for each document."""
    return np.array(documents, np.float64)[:, :, None]


def enumerated(strata, measure):
    """The definition, document by document and pair by pair."""
    systems = strata[0].shape[1]
    places = [(s, d) for s, each in enumerate(strata) for d in range(len(each))]

    def difference(system, heads):
        found = []
        for number, each in enumerate(strata):
            gaps = []
            for other in range(systems):
                if other != system:
                    own, their = each[:, system].copy(), each[:, other].copy()
                    for (stratum, document), head in zip(places, heads, strict=True):
                        if stratum == number and head:
                            own[document], their[document] = their[document].copy(), own[document].copy()
                    gaps.append(float(measure(own.sum(axis=0)) - measure(their.sum(axis=0))))
            found.append(sum(gaps) / len(gaps))
        return sum(found) / len(found)

    p = []
    for system in range(systems):
        seen = abs(difference(system, [False] * len(places)))
        ways = [abs(difference(system, heads)) for heads in product([False, True], repeat=len(places))]
        p.append(sum(way >= seen * (1 - 1e-9) for way in ways) / len(ways))
    return p


def test_fishers_sign_test_by_hand():
    """Five documents, always one error more: only all signs alike are as extreme, 2 of 32."""
    strata = [counted(*[[1, 0]] * 5)]
    assert swap_test(strata, total).tolist() == [2 / 32, 2 / 32]
    # Differences 1, 2, 4 have the sums ±7, ±5, ±3, ±1: at least 5 in absolute value are 4 of 8.
    assert swap_test([counted([1, 0], [0, 2], [4, 0])], total).tolist() == [6 / 8, 6 / 8]
    assert swap_test([counted([1, 0], [2, 0], [4, 0])], total).tolist() == [2 / 8, 2 / 8]


def test_against_several_each_document_is_compared_with_the_mean_of_the_others():
    """The first system has 2 errors more than the mean of the others in each of four documents: 2 of 16.

    The second has 0.5 more twice and 2.5 less twice, which sums to -4: as far from 0 are the 8 of 16 ways in which
    the last two documents have the same sign.
    """
    strata = [counted(*[[3, 2, 0]] * 2, *[[3, 0, 2]] * 2)]
    assert swap_test(strata, total).tolist() == [2 / 16, 8 / 16, 8 / 16]
    assert enumerated(strata, total) == [2 / 16, 8 / 16, 8 / 16]


def test_strata_count_alike_whatever_their_size():
    """Each stratum's measure weighs half: 0.5 and 0.01, so that the first decides."""
    small = np.array([[[1, 1], [0, 1]], [[0, 1], [0, 1]]], np.float64)
    large = np.array([[[0, 50], [1, 50]], [[0, 50], [0, 50]]], np.float64)
    found = swap_test([small, large], rate)
    assert found.tolist() == enumerated([small, large], rate)
    # ±0.5 ∓ 0.01 is less extreme than ±0.5 ± 0.01: all four ways are at least as extreme as the observed one.
    assert found.tolist() == [1.0, 1.0]


@given(
    arrays.arrays(np.float64, st.tuples(st.integers(1, 4), st.just(3), st.just(2)), elements=st.integers(0, 3)),
    arrays.arrays(np.float64, st.tuples(st.integers(1, 3), st.just(3), st.just(2)), elements=st.integers(0, 3)),
)
def test_few_documents_give_the_exact_value(one, two):
    for each in (one, two):
        each[:, :, 1] += each[:, :, 0] + 1  # at least as many cases as errors, and some in every document
    found = swap_test([one, two], rate)
    np.testing.assert_allclose(found, enumerated([one, two], rate))


def test_thrown_coins_come_near_the_exact_value():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 4, (10, 3, 2)).astype(float)
    rows[:, :, 1] += 4
    exact = swap_test([rows], rate, resamples=1024)
    thrown = swap_test([rows], rate, resamples=1023)
    assert exact.tolist() != thrown.tolist()
    np.testing.assert_allclose(thrown, exact, atol=0.06)


@given(
    arrays.arrays(np.float64, st.tuples(st.integers(1, 25), st.just(3), st.just(1)), elements=st.integers(0, 4)),
    st.randoms(),
)
def test_the_order_of_documents_and_systems_does_not_matter(rows, rng):
    found = swap_test([rows], total, resamples=99)
    documents, systems = list(range(len(rows))), [0, 1, 2]
    rng.shuffle(documents)
    np.testing.assert_array_equal(swap_test([rows[documents]], total, resamples=99), found)
    rng.shuffle(systems)
    if 2 ** len(rows) <= 1024:  # thrown coins fall otherwise for other pairs
        exact = swap_test([rows], total, resamples=1024)
        np.testing.assert_allclose(swap_test([rows[:, systems]], total, resamples=1024), exact[systems])
    assert np.all((found > 0) & (found <= 1))


def test_systems_that_do_the_same_do_not_differ():
    rows = np.random.default_rng(0).integers(0, 5, (40, 1, 2)).astype(float).repeat(4, axis=1)
    assert swap_test([rows], total).tolist() == [1.0] * 4


def test_blocks_do_not_change_an_exact_value(monkeypatch):
    rows = np.random.default_rng(0).integers(0, 5, (9, 3, 1)).astype(float)
    whole = swap_test([rows], total)
    monkeypatch.setattr(one_against_others, "_MAX_CELLS", 40)
    np.testing.assert_array_equal(swap_test([rows], total), whole)


def test_seeds_repeat():
    rows = np.random.default_rng(0).integers(0, 5, (40, 2, 1)).astype(float)
    one, again, other = (swap_test([rows], total, resamples=500, seed=seed).tolist() for seed in (1, 1, 2))
    assert one == again != other


def kolmogorov(p):
    """The largest distance between the distribution of p-values and the uniform one."""
    ordered = np.sort(p)
    places = np.arange(len(p))
    return max(np.max((places + 1) / len(p) - ordered), np.max(ordered - places / len(p)))


def exchangeable(rng, documents, systems):
    """Documents of unlike difficulty; systems that differ by chance only."""
    cases = rng.poisson(3, (documents, 1)) + 1
    found = rng.binomial(cases, 0.7, (documents, systems))
    hard = rng.beta(1, 2, (documents, 1))
    return np.stack([rng.binomial(found, hard), found], axis=2).astype(float)


@pytest.mark.parametrize("systems", [2, 5])
def test_p_values_are_uniform_if_systems_are_exchangeable(systems):
    rng = np.random.default_rng(systems)
    p = [
        swap_test([exchangeable(rng, 20, systems), exchangeable(rng, 40, systems)], rate, resamples=199, seed=seed)[0]
        for seed in range(400)
    ]
    # The distance that a uniform sample of 400 exceeds once in a thousand.
    assert kolmogorov(np.array(p)) < 1.95 / np.sqrt(400)


def unlike_sizes(rng):
    """The first system finds a quarter of what the others find; all are wrong equally often."""
    cases = rng.poisson(2, (80, 1))
    found = rng.binomial(cases, [0.2, *[0.8] * 5])
    return np.stack([rng.binomial(found, rng.beta(1, 3, (80, 1))), found], axis=2).astype(float)


def test_a_system_that_finds_less_is_not_taken_for_another_one():
    """Without sizes one true null hypothesis in six is rejected at 0.05; with sizes about one in twenty."""
    rng = np.random.default_rng(0)
    data = [unlike_sizes(rng) for _ in range(300)]
    plain = [swap_test([each], rate, resamples=199, seed=seed)[0] for seed, each in enumerate(data)]
    sized = [swap_test([each], rate, denominator=size, resamples=199, seed=seed)[0] for seed, each in enumerate(data)]
    assert np.mean(np.array(plain) <= 0.05) > 0.12
    assert 0.02 < np.mean(np.array(sized) <= 0.05) < 0.09


def test_sizes_change_nothing_where_all_are_the_same():
    rng = np.random.default_rng(3)
    errors = rng.integers(0, 4, (12, 3)).astype(float)
    rows = np.stack([errors, np.full(errors.shape, 5.0)], axis=2)
    exact = swap_test([rows], rate, resamples=4096)
    np.testing.assert_allclose(swap_test([rows], rate, denominator=size, resamples=4096), exact)


def test_a_real_difference_is_found_though_the_others_differ_too():
    rng = np.random.default_rng(0)
    cases = rng.poisson(3, (80, 1)) + 1
    found = np.broadcast_to(cases, (80, 4))
    errors = rng.binomial(found, [0.2, 0.4, 0.5, 0.6])
    rows = np.stack([errors, found], axis=2).astype(float)
    p = swap_test([rows], rate, denominator=size, resamples=999)
    assert p[0] == p[3] == 0.001
    assert p[1] > 0.05


def test_what_is_not_defined_for_one_system_is_left_out_for_all():
    whole = np.array([[[1, 1], [0, 1]]] * 6, np.float64)
    without = whole.copy()
    without[:, 1] = 0
    np.testing.assert_array_equal(swap_test([whole, without], rate), swap_test([whole], rate))
    assert np.isnan(swap_test([without], rate)).all()


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="resamples is 0"):
        swap_test([counted([1, 0])], total, resamples=0)
    with pytest.raises(UsageError, match="a single system"):
        swap_test([counted([1])], total)
    with pytest.raises(UsageError, match="no documents"):
        swap_test([], total)
