"""Measures of ranked predictions: by hand, by law, and against plain code for one document at a time."""

from __future__ import annotations

from itertools import chain
from math import isnan, log2, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.errors import UsageError
from karat.model.results.ranking import Ranking
from karat.stats.rank_measures import (
    average_precision,
    ndcg,
    precision_at,
    r_precision,
    recall_at,
    reciprocal_rank,
)

MEASURES = {
    "p@1": lambda r: precision_at(r, 1),
    "p@3": lambda r: precision_at(r, 3),
    "r@1": lambda r: recall_at(r, 1),
    "r@3": lambda r: recall_at(r, 3),
    "r-precision": r_precision,
    "rr": reciprocal_rank,
    "ap": average_precision,
    "ndcg": ndcg,
    "ndcg@2": lambda r: ndcg(r, 2),
}


def ranking(*documents):
    """From (gains of the predictions, gains of the gold entities) per document."""
    predictions, gold = [given for given, _ in documents], [wanted for _, wanted in documents]
    return Ranking(len(documents), *flat(predictions), *flat(gold))


def flat(lists):
    document = [place for place, values in enumerate(lists) for _ in values]
    return np.array(document, np.int64), np.array(list(chain.from_iterable(lists)), np.float64)


def reference(gains, gold):
    """The same measures of one document, each as its formula reads."""
    wanted = sum(x > 0 for x in gold)
    if not wanted:
        return dict.fromkeys(MEASURES, nan)
    right = [x > 0 for x in gains]

    def found(k):
        return sum(right[:k])

    def dcg(values, k):
        return sum(x / log2(rank + 1) for rank, x in enumerate(values[:k], 1))

    best = sorted(gold, reverse=True)
    return {
        "p@1": found(1) / 1,
        "p@3": found(3) / 3,
        "r@1": found(1) / wanted,
        "r@3": found(3) / wanted,
        "r-precision": found(wanted) / wanted,
        "rr": 1 / (1 + right.index(True)) if any(right) else 0.0,
        "ap": sum(found(rank) / rank for rank, hit in enumerate(right, 1) if hit) / wanted,
        "ndcg": dcg(gains, None) / dcg(best, None),
        "ndcg@2": dcg(gains, 2) / dcg(best, 2),
    }


@st.composite
def documents(draw):
    """Gold gains, and predictions that name some of the gold entities among wrong ones."""
    gold = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0, 3.0]), max_size=5))
    named = draw(st.lists(st.sampled_from(range(len(gold))), unique=True)) if gold else []
    wrong = draw(st.integers(0, 4))
    return draw(st.permutations([gold[place] for place in named] + [0.0] * wrong)), gold


def test_a_document_by_hand():
    # Ranks 2 and 4 are right, one of three entities is missing.
    one = ranking(([0, 1, 0, 1, 0], [1, 1, 1]))
    expected = {
        "p@1": 0,
        "p@3": 1 / 3,
        "r@1": 0,
        "r@3": 1 / 3,
        "r-precision": 1 / 3,
        "rr": 1 / 2,
        "ap": (1 / 2 + 2 / 4) / 3,
        "ndcg": (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / 2),
        "ndcg@2": (1 / log2(3)) / (1 + 1 / log2(3)),
    }
    assert {name: measure(one).item() for name, measure in MEASURES.items()} == pytest.approx(expected)


def test_grades_matter_to_ndcg_alone():
    plain, graded = ranking(([1, 1], [1, 1])), ranking(([1, 3], [1, 3]))
    for name, measure in MEASURES.items():
        assert (measure(plain).item() == measure(graded).item()) is ("ndcg" not in name)
    assert ndcg(graded).item() == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))


def test_a_short_list_is_divided_by_k_all_the_same():
    assert precision_at(ranking(([1], [1])), 5).tolist() == [0.2]


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_nothing_to_find_is_undefined_and_nothing_found_is_zero(measure):
    values = measure(ranking(([0, 0], []), ([], []), ([], [1]), ([0, 0], [1]), ([0], [0.0]))).tolist()
    assert [isnan(x) for x in values] == [True, True, False, False, True]
    assert values[2:4] == [0, 0]


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_no_documents_no_values(measure):
    assert measure(ranking()).tolist() == []


@given(st.lists(documents(), max_size=6))
def test_all_documents_at_once_are_as_one_by_one(cases):
    together = ranking(*cases)
    for name, measure in MEASURES.items():
        expected = [reference(*case)[name] for case in cases]
        np.testing.assert_allclose(measure(together), expected, rtol=1e-12, atol=0)


@given(st.lists(documents(), min_size=1, max_size=6), st.data())
def test_the_order_of_documents_and_of_gold_entities_never_matters(cases, data):
    order = data.draw(st.permutations(range(len(cases))))
    shuffled = ranking(*[(cases[i][0], data.draw(st.permutations(cases[i][1]))) for i in order])
    for measure in MEASURES.values():
        np.testing.assert_array_equal(measure(ranking(*cases))[list(order)], measure(shuffled))


@given(st.lists(documents(), min_size=1))
def test_values_lie_between_0_and_1(cases):
    for measure in MEASURES.values():
        values = measure(ranking(*cases))
        assert np.all(np.isnan(values) | ((values >= 0) & (values <= 1 + 1e-12)))


@given(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=1, max_size=6), st.integers(0, 3))
def test_a_perfect_ranking_has_1_everywhere(gold, wrong):
    perfect = ranking((sorted(gold, reverse=True) + [0.0] * wrong, gold))
    size = len(gold)
    for measure in (r_precision, reciprocal_rank, average_precision, ndcg):
        assert measure(perfect).tolist() == [1]
    for k in range(1, size + 1):
        assert precision_at(perfect, k).tolist() == [1]
        assert ndcg(perfect, k).tolist() == [1]
    assert recall_at(perfect, size).tolist() == [1]


@given(documents())
def test_a_wrong_prediction_in_front_never_helps(case):
    gains, gold = case
    for measure in MEASURES.values():
        before, after = measure(ranking(case)).item(), measure(ranking(([0.0, *gains], gold))).item()
        assert isnan(before) or after <= before + 1e-12


def test_what_makes_no_sense_is_refused():
    one = ranking(([1], [1]))
    for measure in (precision_at, recall_at, ndcg):
        with pytest.raises(UsageError, match="k is 0"):
            measure(one, 0)
    with pytest.raises(UsageError, match="first rank only"):
        ranking(([1, 1], [1]))
    with pytest.raises(UsageError, match="negative"):
        ranking(([-1], [1]))
    with pytest.raises(UsageError, match="Sort them"):
        Ranking(2, np.array([1, 0]), np.zeros(2), np.array([0]), np.ones(1))
