"""Holm's correction against its definition."""

from __future__ import annotations

from math import erfc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from karat.stats.significance.corrections import holm

SHARES = st.floats(0, 1)
P = arrays.arrays(np.float64, st.integers(1, 12), elements=SHARES | st.just(np.nan))


def rejected(p, level):
    """Step down: the smallest is compared with level/n, the next with level/(n - 1), until one is too large."""
    made = sorted(value for value in p.tolist() if not np.isnan(value))
    cut = -1.0
    for place, value in enumerate(made):
        if value * (len(made) - place) > level:
            break
        cut = value
    return [value <= cut for value in p.tolist()]


def test_by_hand():
    found = holm(np.array([[0.01, 0.04], [0.03, np.nan]]))
    np.testing.assert_allclose(found, [[0.03, 0.06], [0.06, np.nan]])
    assert holm(np.array([0.5, 0.9])).tolist() == [1, 1]
    assert holm(np.zeros(0)).shape == (0,)


@given(P, st.floats(0.001, 0.999))
def test_what_is_at_most_the_level_is_what_the_procedure_rejects(p, level):
    corrected = holm(p)
    near = np.abs(corrected - level) < 1e-9  # products that are equal but for rounding
    for own, expected, unsure in zip((corrected <= level).tolist(), rejected(p, level), near.tolist(), strict=True):
        assert own == expected or unsure


@given(P, st.randoms())
def test_nothing_gets_smaller_and_the_order_does_not_matter(p, rng):
    corrected = holm(p)
    made = ~np.isnan(p)
    assert np.all(corrected[made] >= p[made])
    assert np.all(corrected[made] <= 1)
    assert np.isnan(corrected[~made]).all()
    order = list(range(len(p)))
    rng.shuffle(order)
    np.testing.assert_allclose(holm(p[order]), corrected[order])


def test_few_families_have_a_false_alarm():
    """Twenty tests that depend on each other, all null hypotheses true: one in twenty families rejects any."""
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(4000, 1))
    z = np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=(4000, 20))
    p = np.vectorize(erfc)(np.abs(z) / np.sqrt(2))
    alarms = np.mean([(holm(row) <= 0.05).any() for row in p])
    assert alarms <= 0.05
    assert np.mean((p <= 0.05).any(axis=1)) == pytest.approx(0.4, abs=0.15)
