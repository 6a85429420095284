"""Scores that are functions of sums over documents, and their resampling.

Micro and macro scores, accuracy, means over rankings and differences of two systems are such scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final, TypeAlias

import msgspec
import numpy as np
from msgspec.structs import replace

from karat.model.errors import UsageError
from karat.model.results.statistics import ratio
from karat.model.tables.columns import Floats, Longs
from karat.stats.samples.bootstrap import DistinctRows, count_distinct_rows, draw_totals

RowsFunction: TypeAlias = Callable[[Floats], Floats]
"""A function that maps each row to another row."""

TotalsFunction: TypeAlias = Callable[[Floats], Floats]
"""A function that returns one value per row of sums, NaN if undefined."""

_TOLERANCE: Final = 1e-12
"""The relative difference below which sums count as equal."""


def _identity(rows: Floats) -> Floats:
    """Return the rows unchanged."""
    return rows


class AdditiveScore(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A score that is a function of sums over documents, such as micro F1 of the counts.

    Each document has a row in `base`. The row gives summands, their sums over all documents are the totals, and
    `from_totals` computes the score from them.
    """

    base: Floats
    """One row per document."""
    from_totals: TotalsFunction
    """Compute the score from the sums."""
    to_summands: RowsFunction = _identity
    """Compute the summands of each document from its row of `base`."""
    n_empty_documents: int = 0
    """The number of further documents that have no row, since all their summands are 0; they are resampled too."""
    distinct_rows: DistinctRows | None = None
    """The distinct rows of `base`, if known already."""

    def __len__(self) -> int:
        return len(self.base) + self.n_empty_documents

    @cached_property
    def documents(self) -> DistinctRows:
        """The distinct rows of summands, with the number of documents of each; documents without a row are included."""
        distinct = self.distinct_rows or count_distinct_rows(self.base)
        return _append_zero_rows(DistinctRows(self.to_summands(distinct.rows), distinct.counts), self.n_empty_documents)

    @cached_property
    def totals(self) -> Floats:
        """The sums of the summands over all documents: one value per column."""
        sums: Floats = self.documents.counts @ self.documents.rows
        return sums

    @cached_property
    def value(self) -> float:
        """The score; NaN if undefined."""
        return float(self.from_totals(self.totals[None])[0])

    def leave_one_out(self) -> tuple[Floats, Longs]:
        """Return the scores with one document left out, one per distinct row of summands, and the counts of these rows.

        Leaving out any document with the same row gives the same score.
        """
        remaining = self.totals - self.documents.rows
        # Remainders of fractions where 0 is expected would turn rounding errors into a score.
        remaining[np.abs(remaining) < _TOLERANCE * np.abs(self.totals)] = 0.0
        return self.from_totals(remaining), self.documents.counts

    @property
    def largest_influence(self) -> float:
        """The share of the most influential document in the variance of the score; NaN if no document has influence.

        The variance is that of the jackknife: the sum over documents of the squared change if one is left out.
        """
        values, counts = self.leave_one_out()
        squares = np.nan_to_num(values - self.value) ** 2
        return float(ratio(squares.max(initial=0.0, keepdims=True), np.atleast_1d(squares @ counts))[0])

    def reorder(self, order: Longs) -> AdditiveScore:
        """Return the score of the documents with the indices `order`, in this order."""
        return replace(self, base=self.base[order], distinct_rows=None)


def _append_zero_rows(documents: DistinctRows, n_zero_rows: int) -> DistinctRows:
    """Return the documents with a row of zeros added, which counts `n_zero_rows` times."""
    if not n_zero_rows:
        return documents
    nothing = np.zeros((1, documents.rows.shape[1]))
    return DistinctRows(np.concatenate([documents.rows, nothing]), np.append(documents.counts, n_zero_rows))


def make_mean_score(values: Floats) -> AdditiveScore:
    """Return the mean of `values`, one per document, as an additive score; NaN values are skipped."""
    defined = ~np.isnan(values)
    base = np.column_stack([np.where(defined, values, 0.0), defined])
    return AdditiveScore(base, lambda sums: ratio(sums[:, 0], sums[:, 1]))


def combine_scores(scores: Sequence[AdditiveScore], combine: Callable[[Floats], Floats]) -> AdditiveScore:
    """Return a score that is a function of several scores of the same documents.

    `combine` maps an array with one column per score to one value per row. Raises `UsageError` if the numbers of
    documents differ.
    """
    if len({(len(score), score.n_empty_documents) for score in scores}) != 1:
        sizes = " and ".join(str(len(score)) for score in scores)
        raise UsageError(f"scores of {sizes} documents cannot be combined. Score both on the same documents.")
    base_ends = np.cumsum([score.base.shape[1] for score in scores])[:-1]
    ends = np.cumsum([score.to_summands(score.base[:0]).shape[1] for score in scores])[:-1]

    def to_summands(rows: Floats) -> Floats:
        parts = np.split(rows, base_ends, axis=1)
        return np.hstack([score.to_summands(part) for score, part in zip(scores, parts, strict=True)])

    def from_totals(sums: Floats) -> Floats:
        parts = np.split(sums, ends, axis=1)
        return combine(np.column_stack([score.from_totals(part) for score, part in zip(scores, parts, strict=True)]))

    return AdditiveScore(
        np.hstack([score.base for score in scores]), from_totals, to_summands, scores[0].n_empty_documents
    )


def make_difference(first: AdditiveScore, second: AdditiveScore) -> AdditiveScore:
    """Return the first score minus the second as an additive score; their rows must be the same documents."""
    return combine_scores([first, second], lambda values: values[:, 0] - values[:, 1])


def resample_scores(scores: Sequence[AdditiveScore], resamples: int, seed: int) -> list[Floats]:
    """Return for each score its values on `resamples` bootstrap samples of documents, NaN if undefined.

    Scores with the same `base` object share the draws.
    """
    values: list[Floats] = [np.zeros(0)] * len(scores)
    for base in {id(score.base): score.base for score in scores}.values():
        indices = [index for index, score in enumerate(scores) if score.base is base]
        rows = [scores[index].documents.rows for index in indices]
        totals = draw_totals(DistinctRows(np.hstack(rows), scores[indices[0]].documents.counts), resamples, seed)
        ends = np.cumsum([part.shape[1] for part in rows])[:-1]
        for index, sums in zip(indices, np.split(totals, ends, axis=1), strict=True):
            values[index] = scores[index].from_totals(sums)
    return values


def standard_error(score: AdditiveScore, resamples: int = 1000, seed: int = 0) -> float | None:
    """Return the bootstrap standard error of a score; None if fewer than two resamples have a defined score."""
    values = resample_scores([score], resamples, seed)[0]
    values = values[~np.isnan(values)]
    return float(values.std(ddof=1)) if len(values) > 1 else None
