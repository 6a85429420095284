"""Runtimes of systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from karat.analysis.comparison.grid import Grid


@dataclass(frozen=True, slots=True)
class Runtimes:
    """Mean runtimes of the systems, over the datasets on which all timed systems have one."""

    seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds per document, by system."""
    datasets: tuple[str, ...] = ()
    """Datasets that were timed."""
    documents: int = 0
    """Number of documents in these datasets."""
    excluded: Mapping[str, str] = field(default_factory=dict)
    """Systems without runtime, with the reason."""


def mean_runtimes(grid: Grid) -> Runtimes:
    """Return the mean seconds per document of each system, over the common datasets that all timed systems have.

    Systems without any runtime are excluded. If no dataset has runtimes of all others, all are excluded.
    """
    timed_datasets = {
        system: {name for name in grid.common_datasets if grid.cells[name][system].seconds is not None}
        for system in grid.systems
    }
    excluded = {system: "unknown runtime" for system, datasets in timed_datasets.items() if not datasets}
    timed = [system for system in grid.systems if system not in excluded]
    datasets = tuple(
        name for name in grid.common_datasets if timed and all(name in timed_datasets[system] for system in timed)
    )
    if not datasets:
        return Runtimes(excluded=excluded | dict.fromkeys(timed, "no dataset has runtimes of all systems"))
    documents = sum(len(next(iter(grid.cells[name].values())).result.ids) for name in datasets)
    seconds = {
        system: sum(grid.cells[name][system].seconds or 0.0 for name in datasets) / documents for system in timed
    }
    return Runtimes(seconds, datasets, documents, excluded)
