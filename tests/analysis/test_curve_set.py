"""Curves of several runs over one axis, with the defaults of the axis."""

from __future__ import annotations

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.analysis.curves.curve_set import CurveOptions, compute_curves
from karat.model.errors import UnknownNameError, UsageError

CORPUS = Corpus.from_documents([Document("d", "Ada met Bob.", (Label(0, 3, "Q1"), Label(8, 11, "Q2")))], name="c")


def run(name, *scores):
    """Return a run that links Ada correctly and Bob wrongly, with two scores or none."""
    ada, bob = scores or (None, None)
    predictions = (Prediction(0, 3, "Q1", score=ada), Prediction(8, 11, "Q8", score=bob))
    return Run.from_responses([Response("d", predictions)], name=name)


def test_each_axis_has_its_defaults():
    threshold, alpha = CurveOptions.from_options(), CurveOptions.from_options("alpha", steps=4)
    assert threshold.request.profile == "karat"
    assert threshold.request.overrides == {"threshold": "oracle", "match": "strong"}
    assert (alpha.request.profile, alpha.membership, alpha.steps) == ("finegrained", "strict", 4)
    gerbil = CurveOptions.from_options(profile="gerbil", settings={"match": "weak"})
    assert gerbil.request.overrides == {"threshold": "oracle-gerbil", "match": "weak"}


@pytest.mark.parametrize(
    ("axis", "options", "message"),
    [
        ("coverage", {"settings": {"threshold": "0.5"}}, "Remove the threshold"),
        ("coverage", {"measure": "micro.f1"}, "Remove -m"),
        ("threshold", {"settings": {"match": "strong,weak"}}, "one relation"),
        ("threshold", {"steps": 5}, "only apply to alpha"),
        ("categories", {"membership": "strict"}, "only apply to alpha"),
    ],
)
def test_what_an_axis_lacks_is_refused(axis, options, message):
    with pytest.raises(UsageError, match=message):
        CurveOptions.from_options(axis, **options)


def test_an_unknown_measure_of_an_axis_is_named():
    with pytest.raises(UnknownNameError, match="measure over alpha"):
        CurveOptions.from_options("alpha", measure="macro.f1x")


def test_runs_without_scores_have_no_curve_and_are_noted():
    for axis in ("threshold", "coverage"):
        curves = compute_curves(CORPUS, [run("plain"), run("scored", 0.9, 0.5)], CurveOptions.from_options(axis))
        assert curves.skipped == ["plain"]
        assert curves.notes == ["plain is skipped: no counted prediction has a confidence score."]
        with pytest.raises(UsageError, match="no counted prediction has a confidence score"):
            compute_curves(CORPUS, [run("plain")], CurveOptions.from_options(axis))


def test_curves_are_those_of_the_single_functions():
    scored = run("scored", 0.9, 0.5)
    curves = compute_curves(CORPUS, [scored], CurveOptions.from_options(), calibration=True)
    assert curves.measure == "micro.f1"
    assert curves.thresholds[0].table.equals(karat.threshold_curve(CORPUS, scored).table)
    assert curves.predictions[0].table.equals(karat.calibration_data(CORPUS, scored).table)
    assert compute_curves(CORPUS, [scored], CurveOptions.from_options()).predictions == []


@pytest.mark.parametrize(
    "options",
    [
        {"settings": {"match": "InKB"}},
        {"settings": {"match": "strong[in-kb]"}},
        {"measure": "InKB"},
        {"measure": "InKB micro F1"},
        {"measure": "strong[in-kb]:micro.f1"},
    ],
)
def test_a_curve_of_linked_mentions_ignores_unlinked_ones(options):
    """Bob is NIL and gets a wrong link with 0.5. One of two links is correct, from 0.9 the only one. Ada is found."""
    data = Corpus.from_documents([Document("d", "Ada met Bob.", (Label(0, 3, "Q1"), Label(8, 11, None)))])
    curves = compute_curves(data, [run("scored", 0.9, 0.5)], CurveOptions.from_options(**options))
    (curve,) = curves.thresholds
    assert (curve.view, curves.measure) == ("strong[in-kb]", "micro.f1")
    assert [point.threshold.min_score for point in curve.points()][-1] == 0.9
    assert (curve.values("micro.p").min(), curve.values("micro.p")[-1]) == (0.5, 1)
    assert set(curve.values("micro.r")) == {1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "InKB", "settings": {"match": "weak"}}, "both select a match relation"),
        ({"measure": "strong:micro.f1@types=PER"}, "Pass one, such as strong:micro.f1"),
        ({"settings": {"match": "strong[in-kb,types=PER],weak"}}, "one relation"),
    ],
)
def test_a_curve_has_one_view_without_groups(options, message):
    with pytest.raises(UsageError, match=message):
        CurveOptions.from_options(**options)


def test_a_category_curve_of_linked_mentions_ends_at_their_score():
    """Of the categories Full and Short, linked mentions have only Full: Ada, which is found."""
    full, short = (
        ("pos:NounSingular", f"form:{form}", "overlap:None", "reference:Direct") for form in ("Full", "Short")
    )
    labels = (Label(0, 3, "Q1", categories=full), Label(8, 11, None, categories=short))
    data = Corpus.from_documents([Document("d", "Ada met Bob.", labels)])
    options = CurveOptions.from_options("categories", settings={"match": "InKB"})
    (curve,) = compute_curves(data, [run("plain")], options).categories
    assert (curve.view, curve.combinations, curve.values()[-1]) == (
        "strong[in-kb]",
        ("Full+NounSingular+None+Direct",),
        1,
    )
