"""Mean runtime, tokens and cost of systems over the documents on which all of them state it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from karat.analysis.comparison.grid import Grid, GridCell
from karat.model.results.usage import QUANTITIES
from karat.model.run import Run


@dataclass(frozen=True, slots=True)
class MeanUsage:
    """The mean use of a quantity by the systems, over the datasets on which all systems that state it have one."""

    means: Mapping[str, float] = field(default_factory=dict)
    """The mean per document, by system."""
    datasets: tuple[str, ...] = ()
    """The datasets that count."""
    documents: int = 0
    """Number of documents of these datasets on which all these systems state the quantity."""
    excluded: Mapping[str, str] = field(default_factory=dict)
    """Systems without a mean, with the reason."""
    missing_documents: int = 0
    """Number of the other documents of these datasets, on which a system failed or does not state the quantity."""
    clocks: Mapping[str, str] = field(default_factory=dict)
    """How the times of a system were measured, by system; only systems whose files state it."""

    @property
    def clock_difference(self) -> str:
        """A sentence on systems whose times were measured in different ways; empty if they are alike or unknown."""
        systems: dict[str, list[str]] = {}
        for system in self.means if self.clocks else ():
            systems.setdefault(self.clocks.get(system, "not stated"), []).append(system)
        listing = "; ".join(f"{', '.join(names)}: {clock}" for clock, names in systems.items())
        return f"runtimes do not compare, as they were measured differently: {listing}" if len(systems) > 1 else ""


class _Totals(NamedTuple):
    """The sums of each system on the same documents of a dataset, and the numbers of documents."""

    sums: Mapping[str, float]
    n_documents: int
    n_missing: int


def average_usage(grid: Grid) -> dict[str, MeanUsage]:
    """Return the mean use of each quantity that a system states on a dataset of the averages."""
    usage = {name: _average(grid, name) for name in QUANTITIES}
    return {
        name: mean
        for name, mean in usage.items()
        if mean.means or set(mean.excluded.values()) - {_explain_unknown(name)}
    }


def _average(grid: Grid, quantity: str) -> MeanUsage:
    """Return the mean of a quantity for each system, over the common datasets that all systems that state it have.

    A document on which a system does not state it, such as one on which it failed, counts for no system. If no dataset
    has the quantity for all other systems, all are excluded.
    """
    cells = {name: {system: grid.cells[name][system] for system in grid.systems} for name in grid.common_datasets}
    stated_on = {name: _find_stating(row, quantity) for name, row in cells.items()}
    excluded = {
        system: _explain_exclusion([row[system] for row in cells.values()], quantity)
        for system in grid.systems
        if not any(system in systems for systems in stated_on.values())
    }
    stating = [system for system in grid.systems if system not in excluded]
    totals = {
        name: _add_documents({system: row[system] for system in stating}, quantity)
        for name, row in cells.items()
        if stating and stated_on[name].issuperset(stating)
    }
    totals = {name: total for name, total in totals.items() if total.n_documents}
    if not totals:
        reason = f"no dataset has the {QUANTITIES[quantity].title} of all systems"
        return MeanUsage(excluded=excluded | dict.fromkeys(stating, reason))
    n_documents = sum(total.n_documents for total in totals.values())
    means = {system: sum(total.sums[system] for total in totals.values()) / n_documents for system in stating}
    n_missing = sum(total.n_missing for total in totals.values())
    clocks = {system: _list_clocks([cells[name][system] for name in totals]) for system in stating}
    stated_clocks = {system: clock for system, clock in clocks.items() if clock and quantity == "seconds"}
    return MeanUsage(means, tuple(totals), n_documents, excluded, n_missing, stated_clocks)


def _find_stating(row: Mapping[str, GridCell], quantity: str) -> set[str]:
    """Return the systems that state a quantity on a dataset so that it can be compared with those of the others.

    A system that lacks some documents is compared on the rest, which needs the documents of all systems. If a system
    states only its total, systems without a total are left out.
    """
    totals = {system for system, cell in row.items() if quantity in cell.result.complete_usage}
    detailed = {system for system, cell in row.items() if _get_document_values(cell.entry.run, quantity)}
    return totals | detailed if totals <= detailed else totals


def _list_clocks(cells: Sequence[GridCell]) -> str:
    """Return how the times of a system were measured on some datasets, as its files state it; empty if none does."""
    clocks = (cell.result.run_metadata.get("times", "") for cell in cells)
    return "; ".join(clock for clock in dict.fromkeys(clocks) if clock)


def _explain_exclusion(cells: Sequence[GridCell], quantity: str) -> str:
    """Return why a system states nothing that can be compared; `cells` has its cell of each dataset."""
    if any(quantity in cell.result.usage for cell in cells):
        return f"some documents lack the {QUANTITIES[quantity].title}, and only the sum of a system is known"
    return _explain_unknown(quantity)


def _explain_unknown(quantity: str) -> str:
    """Return the reason for systems that do not state a quantity at all."""
    return f"unknown {QUANTITIES[quantity].title}"


def _add_documents(row: Mapping[str, GridCell], quantity: str) -> _Totals:
    """Return the sums of each system on a dataset, over the documents on which all of them state the quantity."""
    documents = set(next(iter(row.values())).result.ids.to_pylist())
    totals = {
        system: total for system, cell in row.items() if (total := cell.result.complete_usage.get(quantity)) is not None
    }
    if len(totals) == len(row):
        return _Totals(totals, len(documents), 0)
    values = {system: _get_document_values(cell.entry.run, quantity) for system, cell in row.items()}
    ids = documents.intersection(*values.values())
    sums = {system: sum(numbers[id] for id in ids) for system, numbers in values.items()}
    return _Totals(sums, len(ids), len(documents) - len(ids))


def _get_document_values(run: Run | None, quantity: str) -> dict[str, float]:
    """Return a quantity of the documents that state it, by document id; empty without a run."""
    if run is None or quantity not in run.table.column_names:
        return {}
    ids, values = (run.table.column(name).to_pylist() for name in ("id", quantity))
    return {id: value for id, value in zip(ids, values, strict=True) if value is not None}
