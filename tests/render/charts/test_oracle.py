"""What is read off a curve, without any package that draws."""

from __future__ import annotations

import numpy as np
import pytest

import karat
from karat.analysis.curves.calibration import calibration_data
from karat.analysis.curves.oracle import ThresholdRange, find_oracle, measure_family, threshold_range
from karat.analysis.curves.threshold import threshold_curve
from karat.model.errors import UnknownNameError, UsageError
from karat.model.spec.settings.threshold import Threshold
from karat.render.charts.label_layout import HEIGHT, SIZE, WIDTH, ChartLabel, Frame, place_labels
from karat.stats.calibration import expected_calibration_error
from tests.render.charts import systems


def test_the_best_threshold_is_the_one_worked_out_by_hand():
    found = find_oracle(threshold_curve(systems.corpus(), systems.sure()), "micro.f1")
    assert found.threshold == Threshold(0.6)
    assert found.value == pytest.approx(2 / 3)  # P is 1, R is 1/2


@pytest.mark.parametrize("name", ["prior", "noisy"])
@pytest.mark.parametrize("sweep", ["oracle", "oracle-gerbil", "oracle-bat", "oracle-bat-paper"])
def test_the_best_threshold_is_the_one_that_evaluate_finds(name, sweep):
    corpus, run = karat.load("demo"), karat.load_run(f"demo/{name}")
    found = threshold_curve(corpus, run, settings={"threshold": sweep})
    best = find_oracle(found, found.sweep.criterion)
    result = karat.evaluate(corpus, run, settings={"match": "strong", "threshold": sweep})
    assert result.thresholds["strong"] == best.threshold.min_score
    assert result[f"strong:{found.sweep.criterion}"] == pytest.approx(best.value)


def test_the_lowest_of_equally_good_thresholds_is_taken():
    run = systems.run("tied", ("a", 0, True, 0.5), ("a", 2, False, 0.3), ("b", 0, True, 0.1))
    found = threshold_curve(systems.corpus(), run)
    values = found.values("micro.r")
    assert find_oracle(found, "micro.r").threshold.min_score == 0.1
    assert values[0] == values.max()
    assert find_oracle(found, "micro.p").threshold.min_score == 0.5


def test_a_measure_that_curves_do_not_have_is_an_error():
    found = threshold_curve(systems.corpus(), systems.sure())
    with pytest.raises(UnknownNameError, match=r"micro\.f2"):
        find_oracle(found, "micro.f2")
    with pytest.raises(UnknownNameError, match="accuracy"):
        measure_family("accuracy")
    assert measure_family("macro.p") == ("macro.p", "macro.r", "macro.f1")


def test_thresholds_reach_from_0_to_1_or_as_far_as_scores_do():
    corpus = systems.corpus()
    sure, mixed = threshold_curve(corpus, systems.sure()), threshold_curve(corpus, systems.mixed())
    assert threshold_range([sure]) == ThresholdRange(0, 1)
    assert threshold_range([mixed]) == threshold_range([sure, mixed]) == ThresholdRange(-3, 12.5)
    one = threshold_curve(corpus, systems.run("one", ("a", 0, True, 7.0)))
    assert threshold_range([one]) == ThresholdRange(6.5, 7.5)


@pytest.mark.parametrize("relation", ["strong", "weak", "entity", "mention"])
@pytest.mark.parametrize("profile", ["karat", "bat", "gerbil"])
def test_scored_predictions_are_those_that_calibration_measures(relation, profile):
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    found = calibration_data(corpus, run, settings={"match": relation}, profile=profile)
    measured = karat.evaluate(
        corpus, run, profile=profile, settings={"threshold": "none"}, measures=[f"{relation}:ece"]
    )
    assert expected_calibration_error(found.scores, found.correctness) == measured[f"{relation}:ece"]
    assert len(found.scores) == measured.score(f"{relation}:ece").n
    assert found.signature == measured.signature


def test_scored_predictions_have_one_relation():
    corpus, run = systems.corpus(), systems.sure()
    with pytest.raises(UsageError, match="one relation"):
        calibration_data(corpus, run, settings={"match": "strong,weak"})
    assert len(calibration_data(corpus, systems.silent()).scores) == 0


@pytest.mark.parametrize("seed", range(5))
def test_labels_are_inside_the_chart_and_apart(seed):
    rng = np.random.default_rng(seed)
    frame = Frame(ThresholdRange(-2, 5), ThresholdRange(0, 1))
    points = zip(rng.uniform(-2, 5, 8).tolist(), rng.uniform(0, 1, 8).tolist(), strict=True)
    labels = [ChartLabel(str(i), x, y, "oracle 0.659, t = 0.451") for i, (x, y) in enumerate(points)]
    found = place_labels(labels, [(np.linspace(-2, 5, 50), rng.random(50))], frame)
    assert sorted(p.label for p in found) == sorted(labels)
    middles = frame.to_pixels(np.array([p.text.x for p in found]), np.array([p.text.y for p in found]))
    assert (middles > 0).all()
    assert (middles < [WIDTH, HEIGHT]).all()
    for i, (x, y) in enumerate(middles):
        for other_x, other_y in middles[:i]:
            assert abs(y - other_y) >= SIZE or abs(x - other_x) >= 8 * SIZE


def test_labels_of_one_point_are_apart():
    frame = Frame(ThresholdRange(0, 1), ThresholdRange(0, 1))
    found = place_labels([ChartLabel("a", 0, 1, "oracle"), ChartLabel("b", 0, 1, "oracle")], [], frame)
    assert len({p.text for p in found}) == 2
