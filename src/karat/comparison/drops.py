"""What systems lose between finding mentions and linking them: the level of mentions beside that of entities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from karat.comparison.grid import Cell, Grid
from karat.comparison.samples import Estimate, Samples, adding, estimate
from karat.comparison.terms import Terms
from karat.errors import UsageError
from karat.evaluation.measures import detection_of
from karat.model.name import MeasureName, ViewName
from karat.model.tables.columns import Floats
from karat.spec.choices.task import TASKS


@dataclass(frozen=True, slots=True)
class Drop:
    """F1 of a system at the level of mentions and at that of links or entities, and how much less the latter is.

    The interval is over documents, in each of which both are seen. Over several datasets each counts alike.
    """

    mentions: float | None
    links: float | None
    drop: Estimate


@dataclass(frozen=True, slots=True)
class Drops:
    """The drop of every system, on each dataset that all of them answered and on average; both levels by name."""

    mentions: str
    links: str
    datasets: Mapping[str, Mapping[str, Drop]]
    mean: Mapping[str, Drop]


def drops(grid: Grid, terms: Terms) -> Drops:
    """Compare the level of mentions with that of the measure, for the same answers: at the measure's threshold."""
    below, short = _level(grid), f"{'macro' if grid.name.aggregate == 'macro' else 'micro'}.f1"
    drawn = {
        name: {system: _samples(grid, name, cell, below, short, terms) for system, cell in grid.cells[name].items()}
        for name in grid.common
    }
    datasets = {
        name: {system: _drop([own], terms) for system, own in row.items()} for name, row in drawn.items() if row
    }
    mean = {system: _drop([row[system] for row in drawn.values()], terms) for system in grid.systems if drawn}
    return Drops(f"{below}:{short}", f"{grid.name.view}:{short}", datasets, mean)


def _level(grid: Grid) -> ViewName:
    """The view of mentions that a view is compared with; entities without places with mentions that may overlap."""
    name: MeasureName = grid.name
    task = name.view.task or grid.request.conventions.task_name
    found = detection_of(name.view)
    if found is None and name.view.relation == "entity":
        found = replace(name.view, relation="mention-weak")
    if found is None or name.group is not None or TASKS[task].source != "mentions" or grid.request.membership:
        raise UsageError(f"{grid.measure} has no level of mentions below it. Compare strong, weak or entity.")
    return found


def _samples(grid: Grid, dataset: str, cell: Cell, below: ViewName, short: str, terms: Terms) -> Samples:
    """Both levels of a system in the same samples: first mentions, then links."""
    if cell.evaluation is None:
        raise UsageError("the level of mentions is counted from answers, and results have none. Give gold and answers.")
    views = cell.evaluation.beside(grid.name.view, below), cell.evaluation.views[str(grid.name.view)]
    found = [view.additive(short) for view in views]
    additives = {place: each.in_order(cell.order) for place, each in enumerate(found) if each is not None}
    adds = np.zeros((len(cell.result.ids), 2), np.bool_)
    for place, each in additives.items():
        adds[:, place] = each.adds(each.base).any(axis=1)
    return Samples(additives, adds, terms.resamples, grid.seed(dataset, terms.seed))


def _drop(drawn: list[Samples], terms: Terms) -> Drop:
    """The mean of some datasets, each of which counts alike."""
    values: Floats = np.mean([[_value(each, 0), _value(each, 1)] for each in drawn], axis=0)
    sampled: Floats = np.mean([own[:, 0] - own[:, 1] for own in (each.of([0, 1]) for each in drawn)], axis=0)
    mentions, links = (None if np.isnan(value) else float(value) for value in values)
    return Drop(mentions, links, estimate(float(values[0] - values[1]), sampled, adding(drawn, [0, 1]), terms.level))


def _value(own: Samples, place: int) -> float:
    return own.additives[place].value if place in own.additives else np.nan
