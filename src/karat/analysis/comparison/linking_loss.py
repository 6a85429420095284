"""Linking loss: the difference between F1 of mention detection and F1 of linking.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from karat.analysis.comparison.grid import Grid, GridCell
from karat.analysis.comparison.options import ComparisonOptions
from karat.analysis.comparison.samples import Estimate, Samples, count_contributing_documents, estimate
from karat.evaluation.measures import detection_view
from karat.model.errors import UsageError
from karat.model.measure_name import MeasureName, ViewName
from karat.model.spec.settings.task import TASKS
from karat.model.tables.columns import Floats


@dataclass(frozen=True, slots=True)
class LinkingLoss:
    """F1 of a system for detection and for linking, and their difference.

    Over several datasets each counts equally.
    """

    mentions: float | None
    """F1 of mention detection."""
    links: float | None
    """F1 of linking."""
    loss: Estimate
    """`mentions` minus `links`, with an interval over documents."""


@dataclass(frozen=True, slots=True)
class LinkingLosses:
    """Linking loss of every system."""

    mentions: str
    """Measure of mention detection."""
    links: str
    """Measure of linking."""
    datasets: Mapping[str, Mapping[str, LinkingLoss]]
    """By dataset and system, for the datasets with predictions of all systems."""
    mean: Mapping[str, LinkingLoss]
    """By system, averaged over the datasets."""


def measure_linking_losses(grid: Grid, options: ComparisonOptions) -> LinkingLosses:
    """Compute F1 of mention detection minus F1 of linking for each system, by dataset and averaged.

    Detection uses the threshold at which links are scored. Raises `UsageError` for results, and if the measure has no
    detection view.
    """
    mention_view, short = (
        _find_detection_view(grid),
        f"{'macro' if grid.measure_name.aggregate == 'macro' else 'micro'}.f1",
    )
    samples = {
        name: {
            system: _build_samples(grid, name, cell, mention_view, short, options)
            for system, cell in grid.cells[name].items()
        }
        for name in grid.common_datasets
    }
    datasets = {
        name: {system: _mean_loss([dataset_samples], options) for system, dataset_samples in row.items()}
        for name, row in samples.items()
        if row
    }
    mean = {
        system: _mean_loss([row[system] for row in samples.values()], options) for system in grid.systems if samples
    }
    return LinkingLosses(f"{mention_view}:{short}", f"{grid.measure_name.view}:{short}", datasets, mean)


def _find_detection_view(grid: Grid) -> ViewName:
    """Return the view that compares only the spans of the measure's view; raise `UsageError` if there is none.

    For the relation `entity`, which compares no spans, it is the view of overlapping mentions.
    """
    name: MeasureName = grid.measure_name
    task = name.view.task or grid.request.conventions.task_name
    view = detection_view(name.view)
    if view is None and name.view.relation == "entity":
        view = replace(name.view, relation="mention-weak")
    if view is None or name.group is not None or TASKS[task].source != "mentions" or grid.request.membership:
        raise UsageError(f"{grid.measure} has no detection view. Compare strong, weak or entity.")
    return view


def _build_samples(
    grid: Grid, dataset: str, cell: GridCell, mention_view: ViewName, short: str, options: ComparisonOptions
) -> Samples:
    """Return bootstrap samples with two scores of one system, in place of systems: index 0 is detection, 1 is linking.

    `short` is the measure in both views, such as `micro.f1`.
    """
    if cell.evaluation is None:
        raise UsageError(
            "the linking loss is computed from predictions, and result files contain none. Pass gold and predictions."
        )
    views = (
        cell.evaluation.view_at_same_threshold(grid.measure_name.view, mention_view),
        cell.evaluation.views[str(grid.measure_name.view)],
    )
    scores = [view.to_additive(short) for view in views]
    additives = {index: score.reorder(cell.order) for index, score in enumerate(scores) if score is not None}
    contributions = np.zeros((len(cell.result.ids), 2), np.bool_)
    for index, score in additives.items():
        contributions[:, index] = score.to_summands(score.base).any(axis=1)
    names = str(mention_view), str(grid.measure_name.view)
    return Samples(additives, contributions, options.resamples, grid.derive_seed(dataset, options.seed), names)


def _mean_loss(samples: list[Samples], options: ComparisonOptions) -> LinkingLoss:
    """Return the linking loss averaged over datasets, each of which counts equally.

    `samples` has one item per dataset.
    """
    values: Floats = np.mean([[_get_value(s, 0), _get_value(s, 1)] for s in samples], axis=0)
    sampled: Floats = np.mean(
        [scores[:, 0] - scores[:, 1] for scores in (s.get_scores([0, 1]) for s in samples)], axis=0
    )
    mentions, links = (None if np.isnan(value) else float(value) for value in values)
    return LinkingLoss(
        mentions,
        links,
        estimate(float(values[0] - values[1]), sampled, count_contributing_documents(samples, [0, 1]), options.alpha),
    )


def _get_value(samples: Samples, index: int) -> float:
    """Return the score at `index` in `samples`; NaN if it is not a function of sums over documents."""
    return samples.additives[index].value if index in samples.additives else np.nan
