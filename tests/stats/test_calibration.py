"""Calibration and selective risk: by hand, by law, and against all orders of ties."""

from __future__ import annotations

from itertools import permutations
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.errors import InputError, UnknownNameError, UsageError
from karat.stats.calibration import (
    aurc,
    brier_score,
    excess_aurc,
    expected_calibration_error,
    maximum_calibration_error,
    reliability,
    risk_coverage,
)

SCORES = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 1.0]) | st.floats(0, 1)
DEGREES = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)
PREDICTIONS = st.lists(st.tuples(SCORES, DEGREES), min_size=1, max_size=20)
VALUES = (expected_calibration_error, maximum_calibration_error, brier_score, aurc, excess_aurc)


def arrays(predictions):
    scores, right = zip(*predictions, strict=True)
    return np.array(scores, np.float64), np.array(right, np.float64)


def mean_risk(wrong):
    return np.mean([np.mean(wrong[:k]) for k in range(1, len(wrong) + 1)])


NONE = np.zeros(0), np.zeros(0, np.bool_)
FOUR = np.array([0.1, 0.3, 0.9, 1.0]), np.array([False, True, True, False])


def test_four_predictions_by_hand():
    found = reliability(*FOUR, bins=2)
    assert found.edges.tolist() == [0, 0.5, 1]
    assert found.count.tolist() == [2, 2]
    assert found.score.tolist() == pytest.approx([0.2, 0.95])
    assert found.correct.tolist() == [0.5, 0.5]
    assert expected_calibration_error(*FOUR, bins=2) == pytest.approx((0.3 + 0.45) / 2)
    assert maximum_calibration_error(*FOUR, bins=2) == pytest.approx(0.45)
    assert brier_score(*FOUR) == pytest.approx((0.01 + 0.49 + 0.01 + 1) / 4)
    # From the highest score: wrong, right, right, wrong; at best the two right ones come first.
    assert aurc(*FOUR) == pytest.approx((1 + 1 / 2 + 1 / 3 + 2 / 4) / 4)
    assert excess_aurc(*FOUR) == pytest.approx((1 + 1 / 2 + 1 / 3 + 2 / 4) / 4 - (0 + 0 + 1 / 3 + 2 / 4) / 4)


def test_risk_and_coverage_by_hand():
    curve = risk_coverage(np.array([2.0, -1.0, 2.0, 0.0]), np.array([True, False, False, True]))
    assert curve.score.tolist() == [2, 0, -1]
    assert curve.coverage.tolist() == [0.5, 0.75, 1]
    assert curve.risk.tolist() == pytest.approx([1 / 2, 1 / 3, 2 / 4])


def test_scores_on_an_edge_belong_to_the_bin_above():
    tenths = np.array([k / 10 for k in range(11)])
    assert reliability(tenths, np.ones(11)).count.tolist() == [1] * 9 + [2]


def test_empty_bins_have_no_means():
    found = reliability(np.array([0.05]), np.array([True]))
    assert found.count.tolist() == [1] + [0] * 9
    assert all(isnan(x) for x in [*found.score[1:], *found.correct[1:], *found.gap[1:]])


def test_bins_by_mass():
    scores = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    found = reliability(scores, np.ones(6), bins=3, rule="mass")
    assert found.count.tolist() == [2, 2, 2]
    assert found.edges.tolist() == [0, 0.3, 0.5, 1]
    tied = reliability(np.array([0.2, 0.2, 0.2, 1.0]), np.ones(4), bins=4, rule="mass")
    assert tied.count.tolist() == [3, 1]
    assert tied.edges.tolist() == [0, 1, 1]


def test_without_predictions_there_is_no_value():
    assert [value(*NONE) for value in VALUES] == [None] * len(VALUES)
    assert reliability(*NONE, bins=3).count.tolist() == [0, 0, 0]
    assert reliability(*NONE, bins=3, rule="mass").count.tolist() == [0]
    assert [len(x) for x in (risk_coverage(*NONE).score, risk_coverage(*NONE).risk)] == [0, 0]


@given(PREDICTIONS, st.integers(1, 6), st.sampled_from(["width", "mass"]))
def test_every_prediction_is_in_the_bin_of_its_score(predictions, bins, rule):
    scores, right = arrays(predictions)
    found = reliability(scores, right, bins, rule)
    assert found.count.sum() == len(scores)
    assert len(found.edges) == len(found.count) + 1 <= bins + 1
    assert np.all(np.diff(found.edges) >= 0)
    assert rule == "width" or found.count.all()
    for place, (low, high) in enumerate(zip(found.edges, found.edges[1:], strict=False)):
        last = place == len(found.count) - 1
        inside = (scores >= low) & ((scores < high) | last)
        assert found.count[place] == inside.sum()
        if inside.any():
            assert found.score[place] == pytest.approx(scores[inside].mean())
            assert found.correct[place] == pytest.approx(right[inside].mean())


@given(PREDICTIONS, st.integers(1, 6), st.sampled_from(["width", "mass"]))
def test_errors_lie_between_0_and_1(predictions, bins, rule):
    expected = expected_calibration_error(*arrays(predictions), bins, rule)
    largest = maximum_calibration_error(*arrays(predictions), bins, rule)
    assert 0 <= expected <= largest + 1e-12
    assert largest <= 1
    assert 0 <= brier_score(*arrays(predictions)) <= 1
    assert 0 <= excess_aurc(*arrays(predictions)) <= aurc(*arrays(predictions)) <= 1


@given(st.lists(SCORES, min_size=1))
def test_scores_that_are_the_degrees_are_calibrated(scores):
    same = np.array(scores)
    assert (
        expected_calibration_error(same, same) == maximum_calibration_error(same, same) == brier_score(same, same) == 0
    )
    assert excess_aurc(same, same) == pytest.approx(0)


@given(PREDICTIONS, st.data())
def test_the_order_of_predictions_never_matters(predictions, data):
    shuffled = data.draw(st.permutations(predictions))
    for value in VALUES:
        assert value(*arrays(predictions)) == value(*arrays(shuffled))
    one, two = risk_coverage(*arrays(predictions)), risk_coverage(*arrays(shuffled))
    assert one.coverage.tolist() == two.coverage.tolist()
    assert one.risk.tolist() == two.risk.tolist()


@given(st.lists(st.tuples(st.sampled_from([0.2, 0.4]), DEGREES), min_size=1, max_size=5))
def test_a_tie_counts_as_the_mean_of_all_its_orders(predictions):
    areas = [
        mean_risk([1 - right for _, right in sorted(order, key=lambda prediction: -prediction[0])])
        for order in permutations(predictions)
    ]
    assert aurc(*arrays(predictions)) == pytest.approx(np.mean(areas))


@given(st.lists(DEGREES, min_size=1, max_size=6), st.randoms())
def test_no_order_beats_the_best(degrees, rng):
    right = np.array(degrees)
    trusted = np.array(rng.sample(range(100), len(right)), np.float64)
    assert aurc(right, right) <= aurc(trusted, right) + 1e-12
    assert excess_aurc(trusted, right) == pytest.approx(aurc(trusted, right) - aurc(right, right))


@given(PREDICTIONS)
def test_selective_risk_sees_the_order_only(predictions):
    scores, right = arrays(predictions)
    ranks = np.unique(scores, return_inverse=True)[1].astype(np.float64)
    assert aurc(ranks * 7 - 100, right) == aurc(scores, right)


@given(PREDICTIONS)
def test_the_curve_ends_with_all_predictions(predictions):
    scores, right = arrays(predictions)
    curve = risk_coverage(scores, right)
    assert curve.coverage[-1] == 1
    assert curve.risk[-1] == pytest.approx(1 - right.mean())
    assert np.all(np.diff(curve.score) < 0)
    assert np.all(np.diff(curve.coverage) > 0)


@pytest.mark.parametrize("value", [reliability, expected_calibration_error, maximum_calibration_error, brier_score])
def test_scores_outside_0_and_1_are_no_probabilities(value):
    with pytest.raises(InputError, match=r"1 of 2 outside 0\.\.1 \(lowest 0\.5, highest 7\).*from 0 to 1\. Map them"):
        value(np.array([0.5, 7.0]), np.array([True, False]))
    assert aurc(np.array([0.5, 7.0]), np.array([True, False])) == 0.75


@pytest.mark.parametrize("value", [*VALUES, reliability, risk_coverage])
def test_predictions_without_score_are_refused(value):
    with pytest.raises(UsageError, match="1 of 2 predictions have no score"):
        value(np.array([0.5, nan]), np.array([True, False]))


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="bins is 0"):
        reliability(*FOUR, bins=0)
    with pytest.raises(UnknownNameError, match="mass"):
        reliability(*FOUR, rule="mas")
