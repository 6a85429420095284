"""Figures 3 and 4 of the posthoc paper as plots: scores before and after verification, and outcomes of judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.protocols.verification.measures import SourceScores, Verification
from karat.protocols.verification.posthoc import OutcomeCounts
from karat.stats.samples.bootstrap import Interval


class ScorePoint(NamedTuple):
    """A score of a source on a dataset."""

    dataset: str
    """Name of the dataset."""
    source: str
    """Name of the source."""
    value: float | None
    """The score; None if undefined."""
    interval: Interval | None = None
    """Its interval, if any."""


def plot_scores(title: str, measure: str, points: Iterable[ScorePoint]) -> Plot:
    """Return a panel of Figure 3: dots with intervals over datasets, one series per source.

    `measure` is the title of the vertical axis, from 0 to 1. A score above 1 is drawn above the axis.
    """
    series: dict[str, list[PlotPoint]] = {}
    for point in points:
        series.setdefault(point.source, []).append(PlotPoint(point.dataset, point.value, point.interval))
    largest = max((point.y for items in series.values() for point in items if point.y is not None), default=1.0)
    return Plot(
        "dots",
        title,
        tuple(PlotSeries(source, tuple(items)) for source, items in series.items()),
        "dataset",
        measure,
        (0, max(1.0, largest)),
    )


def plot_outcomes(counts: Mapping[tuple[str, str], OutcomeCounts]) -> tuple[Plot, ...]:
    """Return the panels of Figure 4, one per outcome: the share of links of each source as bars over datasets.

    `counts` has the outcomes by dataset and source.
    """
    titles = {"verify": "Verified links", "modify": "Modified links", "remove": "Removed links"}
    plots = []
    for outcome, title in titles.items():
        series: dict[str, list[PlotPoint]] = {}
        for (dataset, source), item in counts.items():
            share = 100 * getattr(item, outcome) / item.total if item.total else None
            series.setdefault(source, []).append(PlotPoint(dataset, share))
        plots.append(
            Plot(
                "bars",
                title,
                tuple(PlotSeries(source, tuple(points)) for source, points in series.items()),
                "dataset",
                "percent of links",
            )
        )
    return tuple(plots)


def plot_verifications(verifications: Sequence[Verification], variant: str = "paper") -> dict[str, Plot]:
    """Return Figures 3 and 4 from campaigns, by a name for files; `variant` defines the scores after verification."""

    def plot_measure(title: str, measure: str, *, is_after: bool) -> Plot:
        """Return the panel of one measure, before or after verification."""
        points = []
        for verification in verifications:
            for source in verification.sources:
                scores: SourceScores = source.posthoc[variant] if is_after else source.original["weak"]
                points.append(
                    ScorePoint(
                        verification.dataset,
                        source.source,
                        getattr(scores, measure),
                        getattr(scores.intervals, measure),
                    )
                )
        return plot_scores(title, measure, points)

    outcomes = {
        (verification.dataset, source.source): source.outcomes
        for verification in verifications
        for source in verification.sources
    }
    verified, modified, removed = plot_outcomes(outcomes)
    return {
        "precision-before": plot_measure("Precision before verification", "precision", is_after=False),
        "precision-after": plot_measure("Precision after verification", "precision", is_after=True),
        "recall-before": plot_measure("Recall before verification", "recall", is_after=False),
        "recall-after": plot_measure("Recall after verification", "recall", is_after=True),
        "verified": verified,
        "modified": modified,
        "removed": removed,
    }
