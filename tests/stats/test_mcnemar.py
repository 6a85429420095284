"""McNemar's test and corrections for many tests."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from karat.stats.significance import mcnemar as module
from karat.stats.significance.corrections import benjamini_hochberg, holm
from karat.stats.significance.mcnemar import mcnemar_from_counts
from tests.stats.corpora import distance


@given(st.integers(0, 60), st.integers(0, 60))
def test_few_mentions_are_counted_exactly(one, two):
    found = mcnemar_from_counts(one, two)
    if not one + two:
        assert found.p is None
        return
    tail = sum(comb(one + two, k) for k in range(min(one, two) + 1)) / 2 ** (one + two)
    assert found.p == pytest.approx(min(1, 2 * tail))
    assert found.p == pytest.approx(mcnemar_from_counts(two, one).p)


def test_by_hand():
    """Of ten mentions that tell them apart nine go to the second: 2 · (1 + 10) / 1024."""
    assert mcnemar_from_counts(1, 9) == (1, 9, pytest.approx(22 / 1024), True)


@pytest.mark.parametrize(("one", "two"), [(5000, 4800), (5200, 4700), (60, 40)])
def test_many_mentions_are_nearly_the_same_by_approximation(one, two, monkeypatch):
    exact = mcnemar_from_counts(one, two).p
    monkeypatch.setattr(module, "_MAX_EXACT", 10)
    near = mcnemar_from_counts(one, two)
    assert not near.is_exact
    assert near.p == pytest.approx(exact, rel=0.02)


def test_p_values_are_uniform_or_larger_where_systems_do_not_differ():
    rng = np.random.default_rng(0)
    p = [mcnemar_from_counts(k := int(rng.binomial(400, 0.5)), 400 - k).p for _ in range(500)]
    assert distance(p) < 0.11  # a whole number of mentions: p-values come in steps
    assert np.mean(np.array(p) <= 0.05) <= 0.06


def test_corrections_by_hand():
    """Holm: 0.01 · 4, 0.02 · 3, then never below what came before. Benjamini and Hochberg: p · 4 / rank."""
    p = np.array([0.03, 0.01, np.nan, 0.02, 0.9])
    np.testing.assert_allclose(holm(p), [0.06, 0.04, np.nan, 0.06, 0.9])
    np.testing.assert_allclose(benjamini_hochberg(p), [0.04, 0.04, np.nan, 0.04, 0.9])


@given(arrays.arrays(np.float64, st.tuples(st.integers(0, 4), st.integers(1, 4)), elements=st.floats(0, 1)))
def test_the_false_discovery_rate_is_never_stricter_than_holm(p):
    found = benjamini_hochberg(p)
    assert found.shape == p.shape
    assert np.all((found >= p - 1e-12) & (found <= holm(p) + 1e-12) & (found <= 1))
    order = np.argsort(p, axis=None)
    assert np.all(np.diff(found.reshape(-1)[order]) >= -1e-12)


def test_rejected_hypotheses_are_true_as_seldom_as_said():
    """Ten tests of which five have nothing to find: of those rejected at 10 %, 5 % should be."""
    rng = np.random.default_rng(4)
    shares = []
    for _ in range(2000):
        p = np.concatenate([rng.random(5), rng.beta(0.05, 1, 5)])
        rejected = benjamini_hochberg(p) <= 0.1
        shares.append(rejected[:5].sum() / max(1, rejected.sum()))
    assert np.mean(shares) == pytest.approx(0.05, abs=0.01)
