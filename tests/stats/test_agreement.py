"""Agreement: published figures, values by hand, and what copies of items must not change."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from karat.model.errors import UsageError
from karat.stats.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha, resample_coefficient
from karat.stats.samples.bootstrap import percentile_interval
from karat.stats.samples.confidence_intervals import expand_confidence

TABLES = arrays.arrays(np.int64, st.tuples(st.integers(2, 4), st.integers(1, 15)), elements=st.integers(-1, 3))


def two(counts):
    """Two annotators from a square table of how often they said what."""
    rows = [(i, j) for i, row in enumerate(counts) for j, count in enumerate(row) for _ in range(count)]
    return np.array(rows, np.int64).T


def test_cohens_kappa_by_hand():
    """50 proposals: 20 times both say yes, 15 times both no. Agreed 0.7, by chance 0.5 · 0.6 + 0.5 · 0.4 = 0.5."""
    assert cohen_kappa(two([[20, 5], [10, 15]])) == pytest.approx(0.4)
    assert cohen_kappa(two([[9, 0], [0, 1]])) == 1
    assert cohen_kappa(two([[0, 5], [5, 0]])) == pytest.approx(-1)


def test_fleiss_kappa_of_a_well_known_table():
    """Ten subjects, fourteen raters, five categories; the figure that textbooks give for it is 0.210."""
    table = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    codes = np.array([np.repeat(range(5), row) for row in table]).T
    assert fleiss_kappa(codes) == pytest.approx(0.210, abs=5e-4)


def test_fleiss_kappa_counts_every_judgement_on_items_with_different_numbers_of_them():
    """Pairs agree in 3 of 3, 0 of 1 and 1 of 3, on average 4/9; by chance in (6² + 2²) / 8² = 5/8."""
    codes = np.array([[0, 0, 0, 1], [0, 1, 0, -1], [0, -1, 1, -1]])
    assert fleiss_kappa(codes) == pytest.approx((4 / 9 - 5 / 8) / (1 - 5 / 8))
    assert fleiss_kappa(codes[::-1]) == pytest.approx(fleiss_kappa(codes))


def test_krippendorffs_alpha_of_his_example():
    """Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, example C: four observers, twelve units."""
    codes = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, -1, -1, -1],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, -1, 3],
            [-1, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, -1],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, -1],
        ]
    )
    assert krippendorff_alpha(codes) == pytest.approx(0.743, abs=5e-4)


def test_alpha_by_hand():
    """Three items, one disagreement. Six judgements, four of one kind: expected 2 · 4 · 2 = 16 of 30 pairs."""
    assert krippendorff_alpha(np.array([[0, 0, 1], [0, 0, 1]])) == 1
    assert krippendorff_alpha(np.array([[0, 0, 1], [0, 1, 0]])) == pytest.approx(1 - (4 / 6) / (16 / 30))


def plain_alpha(codes):
    """The coincidence matrix, cell by cell."""
    coincidences = Counter()
    for item in codes.T:
        values = [value for value in item if value >= 0]
        for one, other in permutations(values, 2) if len(values) > 1 else ():
            coincidences[one, other] += 1 / (len(values) - 1)
    number = sum(coincidences.values())
    used = Counter()
    for (one, _), count in coincidences.items():
        used[one] += count
    expected = sum(used[a] * used[b] for a in used for b in used if a != b)
    observed = sum(count for (a, b), count in coincidences.items() if a != b)
    return 1 - (number - 1) * observed / expected if expected else np.nan


@given(TABLES)
def test_alpha_is_that_of_the_coincidence_matrix(codes):
    assert krippendorff_alpha(codes) == pytest.approx(plain_alpha(codes), nan_ok=True)


@given(TABLES, st.randoms())
def test_names_order_and_copies_mean_nothing(codes, rng):
    order = list(range(codes.shape[1]))
    rng.shuffle(order)
    names = [2, 0, 3, 1, -1]
    renamed = np.array(names)[codes[:, order]]
    times = np.array([rng.randint(0, 3) for _ in order], np.float64)
    copied = np.repeat(codes, times.astype(int), axis=1)
    for coefficient in (fleiss_kappa, krippendorff_alpha, cohen_kappa):
        own = codes[:2] if coefficient is cohen_kappa else codes
        other = renamed[:2] if coefficient is cohen_kappa else renamed[::-1]
        assert coefficient(own) == pytest.approx(coefficient(other), nan_ok=True)
        assert coefficient(own, times) == pytest.approx(coefficient(copied[: len(own)]), nan_ok=True)


@given(TABLES)
def test_for_two_annotators_chance_is_all_that_differs(codes):
    """Fleiss' kappa of two is Scott's pi: not above Cohen's kappa, and the same where they use categories alike."""
    pair = codes[:2]
    cohen, fleiss = cohen_kappa(pair), fleiss_kappa(pair)
    if not np.isnan(cohen) and not np.isnan(fleiss):
        assert fleiss <= cohen + 1e-12
    swapped = np.hstack([pair, pair[::-1]])
    assert cohen_kappa(swapped) == pytest.approx(fleiss_kappa(swapped), nan_ok=True)


def test_without_anything_to_compare_there_is_no_value():
    for coefficient in (cohen_kappa, fleiss_kappa, krippendorff_alpha):
        assert np.isnan(coefficient(np.zeros((2, 0), np.int64)))
        assert np.isnan(coefficient(np.array([[1, 1], [1, 1]])))
        assert np.isnan(coefficient(np.array([[1, -1], [-1, 1]])))
    with pytest.raises(UsageError, match="not 3"):
        cohen_kappa(np.zeros((3, 1), np.int64))
    with pytest.raises(UsageError, match="at least two"):
        fleiss_kappa(np.zeros((1, 1), np.int64))


def test_samples_of_documents_keep_items_together():
    """Two documents, one agreed throughout and one never: a sample of the first alone has all in agreement."""
    codes = np.array([[0, 1, 0, 1, 0, 1], [0, 1, 0, 0, 1, 0]])
    document = np.array([0, 0, 0, 1, 1, 1])
    found = resample_coefficient(cohen_kappa, codes, document, 2, resamples=200, seed=0)
    once, first, second = cohen_kappa(codes), 1.0, cohen_kappa(codes[:, 3:])
    assert {round(value, 9) for value in found} == {round(value, 9) for value in (once, first, second)}
    np.testing.assert_array_equal(found, resample_coefficient(cohen_kappa, codes, document, 2, resamples=200, seed=0))


def annotated(rng, documents):
    """Two annotators of items with three categories; documents differ in how hard they are."""
    document = np.repeat(np.arange(documents), rng.poisson(6, documents) + 1)
    truth = rng.integers(0, 3, len(document))
    slip = rng.random((2, len(document))) < rng.beta(1, 4, documents)[document]
    return np.where(slip, rng.integers(0, 3, (2, len(document))), truth), document


def test_intervals_over_documents_cover_as_they_say():
    truth = krippendorff_alpha(annotated(np.random.default_rng(99), 100_000)[0])
    hits = 0
    for seed in range(200):
        codes, document = annotated(np.random.default_rng(seed), 40)
        found = resample_coefficient(krippendorff_alpha, codes, document, 40, resamples=120, seed=seed)
        low, high = percentile_interval(found, expand_confidence(0.95, 40))
        hits += low <= truth <= high
    assert 0.92 <= hits / 200 <= 0.98
