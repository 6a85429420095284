"""The lines of a card: which figures there are, and how each is made from what was counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from karat.comparison.card_counts import Asked, Benchmark, Counts, benchmark, counts
from karat.comparison.entries import left_out
from karat.errors import UsageError
from karat.evaluation.errors import categories
from karat.evaluation.view import View
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.statistics import Statistics
from karat.model.tables.columns import Floats
from karat.spec.empty import EMPTY
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
class Table:
    """Everything that was counted, for the benchmarks that all systems answered; the others are left out."""

    systems: tuple[str, ...]
    benchmarks: Mapping[str, Benchmark]
    counts: Mapping[str, Mapping[str, Counts]]
    left_out: Mapping[str, str]
    part: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The benchmarks."""
        return tuple(self.benchmarks)

    @cached_property
    def strata(self) -> dict[str, Floats]:
        """For each benchmark documents × systems × columns."""
        return {
            name: np.stack([_rows(own, self.counts[name][system]) for system in self.systems], axis=1)
            for name, own in self.benchmarks.items()
        }

    @cached_property
    def totals(self) -> dict[str, Floats]:
        """For each benchmark systems × columns."""
        return {name: each.sum(axis=0) for name, each in self.strata.items()}

    @property
    def choices(self) -> Signature:
        """What all evaluations have in common; the data are all benchmarks."""
        data = ",".join(f"{each.name}@{each.digest}" for each in self.benchmarks.values())
        own = self.counts[self.names[0]][self.systems[0]].signature
        return Signature(tuple((name, data if name == "data" else value) for name, value in own.parts))


def _rows(own: Benchmark, found: Counts) -> Floats:
    rows = [found.links, found.detection, own.mentions[:, None]]
    for tally in found.categories.values():
        total = tally.errors if tally.total is None else tally.total  # no rate is made of it then
        rows.append(np.column_stack([tally.errors, total]))
    return np.concatenate(rows, axis=1)


def gathered(pairs: Iterable[tuple[Corpus, Run]], asked: Asked) -> Table:
    """Score every run on its corpus; systems and benchmarks are told by their names."""
    known: dict[str, Benchmark] = {}
    found: dict[str, dict[str, Counts]] = {}
    systems: dict[str, None] = {}
    differing: set[str] = set()
    for corpus, run in pairs:
        own = found.setdefault(corpus.name, {})
        if run.name in own:
            raise UsageError(f"{run.name} answers {corpus.name} twice. Give each system once for each benchmark.")
        if corpus.name not in known:
            known[corpus.name] = benchmark(corpus, asked.kb)
        elif known[corpus.name].digest != corpus.digest:
            differing.add(corpus.name)
        own[run.name] = counts(corpus, run, asked)
        systems[run.name] = None
    without = left_out(found, systems, differing)
    common = {name: known[name] for name in sorted(known) if name not in without}
    if not common:
        why = "; ".join(f"{name}: {reason}" for name, reason in without.items()) or "there are no files"
        raise UsageError(f"no benchmark has answers of all systems ({why}). Give files of one system for each.")
    return Table(tuple(systems), common, found, without, part="[" in asked.view)


@dataclass(frozen=True, slots=True)
class Reading:
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


def reading(figure: Figure, table: Table) -> Reading:
    """How a figure is made from the columns of a table."""
    if figure.name in ("f1", "ner-f1"):
        columns = _LINKS if figure.name == "f1" else _DETECTION
        return Reading(columns, _f1(table), lambda totals: totals.sum(axis=-1), columns[2:])
    place = _FIRST + 2 * list(categories()).index(ACCURACY if figure.name == "accuracy" else figure.name)
    if figure.kind == "count":
        # Mentions are the same for all systems: nothing has to be brought to one size.
        return Reading([place, _MENTIONS], _rate, None, [place])
    measure: Measure = (lambda totals: 1 - _rate(totals)) if figure.kind == "score" else _rate
    return Reading([place, place + 1], measure, lambda totals: totals[..., 1], [place + 1])


def _rate(totals: Floats) -> Floats:
    """The first column by the second."""
    errors, whole = totals[..., 0], totals[..., 1]
    shares: Floats = np.divide(errors, whole, out=np.full(errors.shape, np.nan), where=whole > 0)
    return shares


def _f1(table: Table) -> Measure:
    """F1, by the profile's rule for what is empty."""
    rule = EMPTY[table.choices["empty"]]

    def measure(totals: Floats) -> Floats:
        flat = Statistics(np.ascontiguousarray(totals).reshape(-1, 4))
        return View(flat, rule, part=table.part).at_totals("micro.f1").reshape(totals.shape[:-1])

    return measure
