"""What systems took, beside what they score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from karat.comparison.grid import Grid


@dataclass(frozen=True, slots=True)
class Runtimes:
    """Seconds per document of each system whose times are known, over the datasets on which all of them have one.

    `documents` is how many there are in these datasets. `left_out` says which systems are not timed, and why.
    """

    seconds: Mapping[str, float] = field(default_factory=dict)
    datasets: tuple[str, ...] = ()
    documents: int = 0
    left_out: Mapping[str, str] = field(default_factory=dict)


def runtimes(grid: Grid) -> Runtimes:
    """The times that runs or the files beside them say."""
    known = {
        system: {name for name in grid.common if grid.cells[name][system].seconds is not None}
        for system in grid.systems
    }
    without = {system: "no runtime is known" for system, datasets in known.items() if not datasets}
    timed = [system for system in grid.systems if system not in without]
    datasets = tuple(name for name in grid.common if timed and all(name in known[system] for system in timed))
    if not datasets:
        return Runtimes(left_out=without | dict.fromkeys(timed, "no dataset has times of all"))
    documents = sum(len(next(iter(grid.cells[name].values())).result.ids) for name in datasets)
    totals = {system: sum(grid.cells[name][system].seconds or 0.0 for name in datasets) / documents for system in timed}
    return Runtimes(totals, datasets, documents, without)
