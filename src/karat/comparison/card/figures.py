"""The lines of a card: which figures there are, and how each is made from what was counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from karat.comparison.card.benchmarks import Adds, Benchmark, adds, benchmark
from karat.comparison.grid import Grid
from karat.errors import UsageError
from karat.evaluation.cases.errors import categories
from karat.evaluation.view import View
from karat.model.statistics import Statistics
from karat.model.tables.columns import Floats
from karat.stats.tests.contrast import Measure

ACCURACY = "disambiguation"
"""The category whose error rate is one minus the accuracy."""

_LINKS, _DETECTION, _MENTIONS, _FIRST = [0, 1, 2, 3], [4, 5, 6, 7], 8, 9
"""Where the statistics of a document stand in its row; errors and totals of the categories follow."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the tables.

    Of scores more is better, of rates (the share of cases that went wrong) and counts (of errors) less. `measure` is
    what `karat score` calls it, where it has a name there.
    """

    name: str
    title: str
    kind: Literal["score", "rate", "count"]
    measure: str | None = None

    @property
    def words(self) -> str:
        """The title inside a sentence."""
        return self.title if self.title[1:2].isupper() else self.title[0].lower() + self.title[1:]

    def effect(self, value: float) -> str:
        """A difference as cards print it; that of a count is in errors per 100 mentions."""
        sign = "+" if value > 0 else "−" if value < 0 else "±"
        return f"{sign}{100 * abs(value):.1f} {'per 100' if self.kind == 'count' else 'points'}"


def figures(view: str) -> tuple[Figure, ...]:
    """Those of Table 1, then all error categories; accuracy stands for that of wrong links."""
    scores = (
        Figure("f1", "Overall F1", "score", f"{view}:micro.f1"),
        Figure("ner-f1", "NER F1", "score"),
        Figure("accuracy", "Disambiguation accuracy", "score"),
    )
    return (*scores, *(_of_category(name, view) for name in categories() if name != ACCURACY))


def _of_category(name: str, view: str) -> Figure:
    """Errors of detection are counted, as in Table 4; all others that have a total have a rate."""
    category = categories()[name]
    rate = category.avoided is not None and not category.group.startswith("ner-")
    measure = f"{view}:micro.error-rate@error={name}" if rate else None
    return Figure(name, category.title, "rate" if rate else "count", measure)


@dataclass(frozen=True)
class CardCounts:
    """Everything that was counted, for the benchmarks that all systems answered; the others are left out."""

    grid: Grid
    benchmarks: Mapping[str, Benchmark]
    adds: Mapping[str, Mapping[str, Adds]]
    view: View

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems."""
        return self.grid.systems

    @property
    def names(self) -> tuple[str, ...]:
        """The benchmarks."""
        return tuple(self.benchmarks)

    @cached_property
    def strata(self) -> dict[str, Floats]:
        """For each benchmark documents × systems × columns."""
        return {
            name: np.stack([_rows(own, self.adds[name][system]) for system in self.systems], axis=1)
            for name, own in self.benchmarks.items()
        }

    @cached_property
    def totals(self) -> dict[str, Floats]:
        """For each benchmark systems × columns."""
        return {name: each.sum(axis=0) for name, each in self.strata.items()}


def _rows(own: Benchmark, found: Adds) -> Floats:
    rows = [found.links, found.detection, own.mentions[:, None]]
    for tally in found.categories.values():
        total = tally.errors if tally.total is None else tally.total  # no rate is made of it then
        rows.append(np.column_stack([tally.errors, total]))
    return np.concatenate(rows, axis=1)


def gathered(table: Grid, view: str) -> CardCounts:
    """What every system counts on the datasets that all of them answered."""
    if not table.common:
        why = "; ".join(f"{name}: {reason}" for name, reason in table.left_out.items()) or "there are no files"
        raise UsageError(f"no benchmark has answers of all systems ({why}). Give files of one system for each.")
    benchmarks, counted, shown = {}, {}, None
    for name in table.common:
        row, corpus = table.cells[name], table.corpus(name)
        if corpus is None:
            raise UsageError("a card opens cases, and results have none. Give gold and answers.")
        benchmarks[name] = benchmark(corpus, table.request.knowledge, next(iter(row.values())).order)
        counted[name] = {system: adds(cell, view) for system, cell in row.items()}
        shown = shown or next(cell.evaluation.views[view] for cell in row.values() if cell.evaluation is not None)
    assert shown is not None, "there is a benchmark, and a system that answered it"
    return CardCounts(table, benchmarks, counted, shown)


@dataclass(frozen=True, slots=True)
class Making:
    """Where a figure's columns are, and how it is made from their totals; see `karat.stats.tests.contrast`.

    `cases` are the columns that say how many cases it is about.
    """

    columns: Sequence[int]
    measure: Measure
    size: Measure | None
    cases: Sequence[int]

    def of(self, totals: Floats) -> Floats:
        """The figure at totals of all columns; of counts, the errors per mention."""
        return self.measure(totals[..., self.columns])


def making(figure: Figure, table: CardCounts) -> Making:
    """How a figure is made from the columns of a table."""
    if figure.name in ("f1", "ner-f1"):
        columns = _LINKS if figure.name == "f1" else _DETECTION
        return Making(columns, _f1(table), lambda totals: totals.sum(axis=-1), columns[2:])
    place = _FIRST + 2 * list(categories()).index(ACCURACY if figure.name == "accuracy" else figure.name)
    if figure.kind == "count":
        # Mentions are the same for all systems: nothing has to be brought to one size.
        return Making([place, _MENTIONS], _rate, None, [place])
    measure: Measure = (lambda totals: 1 - _rate(totals)) if figure.kind == "score" else _rate
    return Making([place, place + 1], measure, lambda totals: totals[..., 1], [place + 1])


def _rate(totals: Floats) -> Floats:
    """The first column by the second."""
    errors, whole = totals[..., 0], totals[..., 1]
    shares: Floats = np.divide(errors, whole, out=np.full(errors.shape, np.nan), where=whole > 0)
    return shares


def _f1(table: CardCounts) -> Measure:
    """F1, by the profile's rule for what is empty."""

    def measure(totals: Floats) -> Floats:
        flat = Statistics(np.ascontiguousarray(totals).reshape(-1, 4))
        return table.view.counting(flat).at_totals("micro.f1").reshape(totals.shape[:-1])

    return measure
