"""Overfitting index: how much better a system scores on its development datasets than on other datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.analysis.comparison.grid import Grid
from karat.analysis.comparison.options import ComparisonOptions
from karat.analysis.comparison.samples import Estimate, Samples, count_contributing_documents, estimate
from karat.model.errors import UnknownNameError, UsageError
from karat.model.tables.columns import Floats


@dataclass(frozen=True, slots=True)
class OverfittingIndex:
    """Scores of a system on its development datasets and on other datasets.

    Means are over datasets, each of which counts equally. Since some datasets are easier for all systems,
    `relative_index` compares the difference with that of other systems.
    """

    system: str
    """Name of the system."""
    developed_on: tuple[str, ...]
    """Datasets that the system was developed on."""
    other_datasets: tuple[str, ...]
    """Other datasets on which the system has a score."""
    developed_score: Estimate
    """Mean score on `developed_on`."""
    other_score: Estimate
    """Mean score on `other_datasets`."""
    index: Estimate
    """`developed_score` minus `other_score`."""
    reference_systems: tuple[str, ...]
    """Systems that were not developed on the same datasets."""
    relative_index: Estimate
    """`index` minus the mean index of `reference_systems`, on the datasets with scores of all systems."""
    reason: str | None = None
    """Reason for a missing `relative_index`."""


def overfitting_indices(
    grid: Grid, samples: Mapping[str, Samples], developed_on: Mapping[str, Sequence[str]], options: ComparisonOptions
) -> tuple[OverfittingIndex, ...]:
    """Return the overfitting index of every system in `developed_on`, sorted by name.

    `developed_on` has the development datasets by system; `samples` are by dataset. Raises `UnknownNameError` or
    `UsageError` for unknown names, and for a system without scores on its development datasets or on any other dataset.
    """
    for system, datasets in developed_on.items():
        if system not in grid.systems:
            raise UnknownNameError("system", system, grid.systems)
        for name in datasets:
            if name not in grid.cells:
                raise UnknownNameError("dataset", name, grid.cells)
            if np.isnan(grid.values(name)[grid.systems.index(system)]):
                raise UsageError(f"{system} has no score on {name}, its development dataset. Pass its predictions.")
    return tuple(
        _build_index(grid, samples, system, sorted(set(developed_on[system])), developed_on, options)
        for system in sorted(developed_on)
    )


def _build_index(
    grid: Grid,
    samples: Mapping[str, Samples],
    system: str,
    datasets: Sequence[str],
    developed_on: Mapping[str, Sequence[str]],
    options: ComparisonOptions,
) -> OverfittingIndex:
    """Return the overfitting index of one system, which was developed on `datasets`.

    `developed_on` has the development datasets of all systems, to find those that can serve as reference.
    """
    index = grid.systems.index(system)
    other_datasets = [name for name in grid.datasets if name not in datasets and not np.isnan(grid.values(name)[index])]
    if not other_datasets:
        raise UsageError(f"{system} has scores on {', '.join(datasets)} only. Pass its predictions for other datasets.")
    references = tuple(
        other for other in grid.systems if other != system and not set(datasets) & set(developed_on.get(other, ()))
    )
    contrast = _Contrast(grid, samples, options, [index])
    relative, reason = Estimate(None), None
    shared_datasets = [name for name in grid.common_datasets if name not in datasets]
    if not references:
        reason = "all other systems were developed on the same datasets"
    elif not shared_datasets or not set(datasets) <= set(grid.common_datasets):
        reason = "some systems have no predictions for these datasets"
    else:
        indices = [index, *(grid.systems.index(other) for other in references)]
        relative = _Contrast(grid, samples, options, indices).estimate(datasets, shared_datasets)
    return OverfittingIndex(
        system=system,
        developed_on=tuple(datasets),
        other_datasets=tuple(other_datasets),
        developed_score=contrast.estimate(datasets, []),
        other_score=contrast.estimate(other_datasets, []),
        index=contrast.estimate(datasets, other_datasets),
        reference_systems=references,
        relative_index=relative,
        reason=reason,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Contrast:
    """Score of the first of several systems, minus the mean of the others if there are any.

    Systems are grid indices.
    """

    grid: Grid
    samples: Mapping[str, Samples]
    options: ComparisonOptions
    systems: Sequence[int]

    def estimate(self, datasets: Sequence[str], other_datasets: Sequence[str]) -> Estimate:
        """Return the mean of the contrast over `datasets`, minus its mean over `other_datasets` if there are any."""
        documents = count_contributing_documents(
            [self.samples[name] for name in (*datasets, *other_datasets)], self.systems
        )
        systems = list(self.systems)
        value = self._compute(
            *([self.grid.values(name)[None, systems] for name in side] for side in (datasets, other_datasets))
        )
        sampled = self._compute(
            *([self.samples[name].get_scores(systems) for name in side] for side in (datasets, other_datasets))
        )
        return estimate(float(value[0]), sampled, documents, self.options.alpha)

    def _compute(self, scores: Sequence[Floats], other_scores: Sequence[Floats]) -> Floats:
        """Return the contrast for each row of score arrays (rows × systems), with one array per dataset."""
        mean: Floats = np.mean(scores, axis=0) - (np.mean(other_scores, axis=0) if other_scores else 0.0)
        first: Floats = mean[:, 0]
        return first - mean[:, 1:].mean(axis=1) if len(self.systems) > 1 else first
