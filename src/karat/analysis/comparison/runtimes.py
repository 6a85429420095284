"""Mean runtimes of systems over the documents that all of them have a runtime of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from karat.analysis.comparison.entries import get_document_seconds
from karat.analysis.comparison.grid import Grid, GridCell


@dataclass(frozen=True, slots=True)
class Runtimes:
    """Mean runtimes of the systems, over the datasets on which all timed systems have one."""

    seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds per document, by system."""
    datasets: tuple[str, ...] = ()
    """Datasets that were timed."""
    documents: int = 0
    """Number of documents of these datasets that all timed systems have a runtime of."""
    excluded: Mapping[str, str] = field(default_factory=dict)
    """Systems without runtime, with the reason."""
    untimed_documents: int = 0
    """Number of the other documents of these datasets, on which a system failed or reported no runtime."""
    clocks: Mapping[str, str] = field(default_factory=dict)
    """How the times of a system were measured, by system; only systems whose files state it."""

    @property
    def clock_difference(self) -> str:
        """A sentence on systems whose times were measured in different ways; empty if they are alike or unknown."""
        systems: dict[str, list[str]] = {}
        for system in self.seconds:
            systems.setdefault(self.clocks.get(system, "not stated"), []).append(system)
        listing = "; ".join(f"{', '.join(names)}: {clock}" for clock, names in systems.items())
        return f"runtimes do not compare, as they were measured differently: {listing}" if len(systems) > 1 else ""


class _Totals(NamedTuple):
    """The seconds of each system on the same documents of a dataset, and the numbers of documents."""

    seconds: Mapping[str, float]
    n_timed: int
    n_untimed: int


def mean_runtimes(grid: Grid) -> Runtimes:
    """Return the mean seconds per document of each system, over the common datasets that all timed systems have.

    A document without a runtime of a system, such as one on which it failed, counts for no system. Systems without
    any runtime are excluded. If no dataset has runtimes of all others, all are excluded.
    """
    cells = {name: {system: grid.cells[name][system] for system in grid.systems} for name in grid.common_datasets}
    timed_on = {name: _find_timed(row) for name, row in cells.items()}
    excluded = {
        system: _explain_exclusion([row[system] for row in cells.values()])
        for system in grid.systems
        if not any(system in systems for systems in timed_on.values())
    }
    timed = [system for system in grid.systems if system not in excluded]
    totals = {
        name: _sum_seconds({system: row[system] for system in timed})
        for name, row in cells.items()
        if timed and timed_on[name].issuperset(timed)
    }
    totals = {name: total for name, total in totals.items() if total.n_timed}
    if not totals:
        return Runtimes(excluded=excluded | dict.fromkeys(timed, "no dataset has runtimes of all systems"))
    n_documents = sum(total.n_timed for total in totals.values())
    means = {system: sum(total.seconds[system] for total in totals.values()) / n_documents for system in timed}
    n_untimed = sum(total.n_untimed for total in totals.values())
    clocks = {system: _list_clocks([cells[name][system] for name in totals]) for system in timed}
    stated = {system: clock for system, clock in clocks.items() if clock}
    return Runtimes(means, tuple(totals), n_documents, excluded, n_untimed, stated)


def _find_timed(row: Mapping[str, GridCell]) -> set[str]:
    """Return the systems that have a runtime on a dataset which can be compared with those of the others.

    A system that lacks the runtimes of some documents is compared on the rest, which needs the runtime of each document
    of all systems. If a system states only its total, systems without a total are not timed.
    """
    totals = {system for system, cell in row.items() if cell.seconds is not None}
    detailed = {system for system, cell in row.items() if get_document_seconds(cell.entry.run)}
    return totals | detailed if totals <= detailed else totals


def _list_clocks(cells: Sequence[GridCell]) -> str:
    """Return how the times of a system were measured on some datasets, as its files state it; empty if none does."""
    runs = [cell.entry.run for cell in cells]
    return "; ".join(
        dict.fromkeys(run.metadata["times"] for run in runs if run is not None and "times" in run.metadata)
    )


def _explain_exclusion(cells: Sequence[GridCell]) -> str:
    """Return why a system has no runtime that can be compared; `cells` has its cell of each dataset."""
    if any(get_document_seconds(cell.entry.run) for cell in cells):
        return "some documents have no runtime, and another system states only its total"
    return "unknown runtime"


def _sum_seconds(row: Mapping[str, GridCell]) -> _Totals:
    """Return the seconds of each system on a dataset, over the documents that have a runtime of all of them."""
    documents = set(next(iter(row.values())).result.ids.to_pylist())
    totals = {system: cell.seconds for system, cell in row.items() if cell.seconds is not None}
    if len(totals) == len(row):
        return _Totals(totals, len(documents), 0)
    seconds = {system: get_document_seconds(cell.entry.run) for system, cell in row.items()}
    ids = documents.intersection(*seconds.values())
    sums = {system: sum(times[id] for id in ids) for system, times in seconds.items()}
    return _Totals(sums, len(ids), len(documents) - len(ids))
