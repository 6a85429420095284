"""Figures of a scorecard and their formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from karat.analysis.comparison.grid import Grid
from karat.analysis.comparison.scorecard.dataset_counts import (
    DatasetFacts,
    DocumentCounts,
    collect_dataset_facts,
    count_documents,
)
from karat.evaluation.cases.errors import categories
from karat.evaluation.view import View
from karat.model.errors import UsageError
from karat.model.results.statistics import Statistics
from karat.model.tables.columns import Floats
from karat.stats.significance.contrast import TotalsMeasure

ACCURACY = "disambiguation"
"""Error category whose rate is one minus the accuracy."""

_LINKS, _DETECTION, _MENTIONS, _FIRST_CATEGORY = [0, 1, 2, 3], [4, 5, 6, 7], 8, 9
"""Columns of a document's row of counts; from `_FIRST_CATEGORY` on, errors and totals of each category."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the scorecard tables."""

    name: str
    """Name of the figure."""
    title: str
    """Title for display."""
    kind: Literal["score", "rate", "count"]
    """`score` (higher is better), `rate` (share of cases that are errors) or `count` (number of errors)."""
    measure: str | None = None
    """Measure of `karat score` with the same value; None if there is none."""

    @property
    def phrase(self) -> str:
        """The title for use inside a sentence."""
        return self.title if self.title[1:2].isupper() else self.title[0].lower() + self.title[1:]

    def format_effect(self, value: float) -> str:
        """Format a difference between systems with its sign, in percentage points.

        For a count, in errors per 100 mentions.
        """
        sign = "+" if value > 0 else "−" if value < 0 else "±"
        return f"{sign}{100 * abs(value):.1f} {'per 100' if self.kind == 'count' else 'points'}"


def list_figures(view: str) -> tuple[Figure, ...]:
    """List the figures of a scorecard: F1, NER F1 and accuracy as in Table 1, then the error categories.

    The category of wrong links is omitted, since its rate is one minus the accuracy.
    """
    scores = (
        Figure("f1", "Overall F1", "score", f"{view}:micro.f1"),
        Figure("ner-f1", "NER F1", "score"),
        Figure("accuracy", "Disambiguation accuracy", "score"),
    )
    return (*scores, *(_category_figure(name, view) for name in categories() if name != ACCURACY))


def _category_figure(name: str, view: str) -> Figure:
    """Return the figure of an error category: a count for detection errors, as in Table 4, else a rate."""
    category = categories()[name]
    rate = category.is_avoided is not None and not category.group.startswith("ner-")
    measure = f"{view}:micro.error-rate@error={name}" if rate else None
    return Figure(name, category.title, "rate" if rate else "count", measure)


@dataclass(frozen=True)
class ScorecardCounts:
    """All counts for the datasets with predictions of all systems."""

    grid: Grid
    """Evaluations."""
    dataset_facts: Mapping[str, DatasetFacts]
    """Facts by dataset."""
    document_counts: Mapping[str, Mapping[str, DocumentCounts]]
    """Counts by dataset and system."""
    view: View
    """View whose rules apply to empty scores."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return self.grid.systems

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the datasets."""
        return tuple(self.dataset_facts)

    @cached_property
    def strata(self) -> dict[str, Floats]:
        """For each dataset the counts per document, as documents × systems × columns.

        For the columns see `_document_rows`.
        """
        return {
            name: np.stack(
                [_document_rows(facts, self.document_counts[name][system]) for system in self.systems], axis=1
            )
            for name, facts in self.dataset_facts.items()
        }

    @cached_property
    def totals(self) -> dict[str, Floats]:
        """For each dataset the counts summed over its documents, as systems × columns.

        For the columns see `_document_rows`.
        """
        return {name: rows.sum(axis=0) for name, rows in self.strata.items()}


def _document_rows(facts: DatasetFacts, counts: DocumentCounts) -> Floats:
    """Return the counts of one system as documents × columns.

    The columns are the sums of the four `Weights` of linking (matched and unmatched predictions, matched and unmatched
    gold), the same four of detection, mentions, then errors and possible errors of each category.
    """
    columns = [counts.links, counts.detection, facts.mentions[:, None]]
    for category in counts.categories.values():
        total = category.errors if category.total is None else category.total  # no rate is computed in this case
        columns.append(np.column_stack([category.errors, total]))
    return np.concatenate(columns, axis=1)


def collect_counts(grid: Grid, view: str) -> ScorecardCounts:
    """Count links, detections and errors of every system in `view`, on the datasets with scores of all systems.

    Raises `UsageError` if there is no such dataset, or for results, which contain no cases.
    """
    if not grid.common_datasets:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in grid.excluded.items()) or "there are no files"
        raise UsageError(
            f"no dataset has predictions of all systems ({reasons}). Pass the files of all systems for one dataset."
        )
    facts, counts, evaluated_view = {}, {}, None
    for name in grid.common_datasets:
        row, corpus = grid.cells[name], grid.corpus(name)
        if corpus is None:
            raise UsageError("a scorecard needs cases, and result files contain none. Pass gold and predictions.")
        facts[name] = collect_dataset_facts(corpus, grid.request.fact_kb, next(iter(row.values())).order)
        counts[name] = {system: count_documents(cell, view) for system, cell in row.items()}
        evaluated_view = evaluated_view or next(
            cell.evaluation.views[view] for cell in row.values() if cell.evaluation is not None
        )
    assert evaluated_view is not None, "there is a dataset with predictions"
    return ScorecardCounts(grid, facts, counts, evaluated_view)


@dataclass(frozen=True, slots=True)
class FigureFormula:
    """Formula of a figure over the totals of its columns; see `karat.stats.significance.contrast`."""

    columns: Sequence[int]
    """Columns that the formula reads."""
    measure: TotalsMeasure
    """Formula."""
    size: TotalsMeasure | None
    """Number of cases at totals; None if it is the same for all systems."""
    cases: Sequence[int]
    """Columns whose sum is the number of cases."""

    def compute(self, totals: Floats) -> Floats:
        """Return the figure at totals of all columns, which are on the last axis.

        For a count, the errors per mention.
        """
        return self.measure(totals[..., self.columns])


def get_formula(figure: Figure, counts: ScorecardCounts) -> FigureFormula:
    """Return the formula that computes a figure from total counts."""
    if figure.name in ("f1", "ner-f1"):
        columns = _LINKS if figure.name == "f1" else _DETECTION
        return FigureFormula(columns, _f1_formula(counts), lambda totals: totals.sum(axis=-1), columns[2:])
    column = _FIRST_CATEGORY + 2 * list(categories()).index(ACCURACY if figure.name == "accuracy" else figure.name)
    if figure.kind == "count":
        # All systems have the same mentions, so sizes need no adjustment.
        return FigureFormula([column, _MENTIONS], _error_rate, None, [column])
    measure: TotalsMeasure = (lambda totals: 1 - _error_rate(totals)) if figure.kind == "score" else _error_rate
    return FigureFormula([column, column + 1], measure, lambda totals: totals[..., 1], [column + 1])


def _error_rate(totals: Floats) -> Floats:
    """Return the first column (errors) divided by the second (cases or mentions); NaN if the second is 0."""
    errors, total = totals[..., 0], totals[..., 1]
    shares: Floats = np.divide(errors, total, out=np.full(errors.shape, np.nan), where=total > 0)
    return shares


def _f1_formula(counts: ScorecardCounts) -> TotalsMeasure:
    """Return a function that computes F1 from sums of the four `Weights`, which are the last axis of its argument.

    The `Weights` are matched and unmatched predictions, matched and unmatched gold. The profile's rule decides the F1
    of empty totals.
    """

    def measure(totals: Floats) -> Floats:
        flat = Statistics(np.ascontiguousarray(totals).reshape(-1, 4))
        return counts.view.with_statistics(flat).total_values("micro.f1").reshape(totals.shape[:-1])

    return measure
