"""Figures 3 and 4 of the posthoc paper, from campaigns."""

from __future__ import annotations

from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.measures import measure_campaign
from karat.protocols.verification.plots import ScorePoint, plot_outcomes, plot_scores, plot_verifications
from karat.protocols.verification.posthoc import OutcomeCounts
from karat.stats.samples.bootstrap import Interval
from tests.protocols.verification.test_overlay import judged


def test_a_panel_has_one_series_per_source_with_intervals():
    points = [
        ScorePoint("a", "GT", 0.5, Interval(0.4, 0.6)),
        ScorePoint("a", "REL", None),
        ScorePoint("b", "GT", 1.25),
    ]
    plot = plot_scores("Recall", "recall", points)
    assert [
        (series.name, [(point.x, point.y, point.interval) for point in series.points]) for series in plot.series
    ] == [
        ("GT", [("a", 0.5, (0.4, 0.6)), ("b", 1.25, None)]),
        ("REL", [("a", None, None)]),
    ]
    assert (plot.kind, plot.y_range) == ("dots", (0, 1.25))  # recall as coded can be above 1


def test_outcomes_are_shares_of_the_judged_links():
    counts = {("a", "GT"): OutcomeCounts(6, 3, 1, 90), ("a", "REL"): OutcomeCounts(0, 0, 0, 5)}
    plots = plot_outcomes(counts)
    assert [[series.points[0].y for series in plot.series] for plot in plots] == [[60, None], [30, None], [10, None]]


def test_a_campaign_gives_all_panels():
    gold = Corpus.from_documents([Document("d", "Ulm and Rome.", (Label(0, 3, "Q1"), Label(8, 12, "Q2")))], name="gold")
    system = Run.from_responses([Response("d", (Prediction(0, 3, "Q1"),))], name="s")
    made = build_campaign(gold, [system], name="toy", controls=0)
    decisions = {("gold", "Ulm"): Decision.VERIFY, ("gold", "Rome"): Decision.REMOVE, ("s", "Ulm"): Decision.VERIFY}
    plots = plot_verifications([measure_campaign(made, judged(made, decisions), resamples=0)])
    values = {name: {series.name: series.points[0].y for series in plot.series} for name, plot in plots.items()}
    assert values == {
        "precision-before": {"gold": 1, "s": 1},
        "precision-after": {"gold": 0.5, "s": 1},
        "recall-before": {"gold": 1, "s": 0.5},
        "recall-after": {"gold": 1, "s": 1},
        "verified": {"gold": 50, "s": 100},
        "modified": {"gold": 0, "s": 0},
        "removed": {"gold": 50, "s": 0},
    }
