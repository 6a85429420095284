"""Scores that are made from sums over documents, and what they would be on other samples of documents.

Micro and macro scores, accuracy, means over ranked answers and the difference of two systems are all of this kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final, TypeAlias

import msgspec
import numpy as np
from msgspec.structs import replace

from karat.errors import UsageError
from karat.model.statistics import ratio
from karat.model.tables.columns import Floats, Longs
from karat.stats.samples.bootstrap import Distinct, distinct, drawn_totals

Rows: TypeAlias = Callable[[Floats], Floats]
"""From rows to rows, each by itself."""

OfTotals: TypeAlias = Callable[[Floats], Floats]
"""One value for each row of sums, NaN where there is none."""

_NEAR: Final = 1e-12
"""Sums that differ by no more than this share are equal but for rounding."""


def _as_they_are(rows: Floats) -> Floats:
    return rows


class Additive(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A score that is a function `of` sums over documents.

    `base` has one row per document, from which `adds` makes what the document adds to the sums. Equal rows add the
    same, so that documents with equal rows are looked at once, however many they are; `merged` holds them so, where
    that is known already. Further documents are `silent`: they are drawn like all others, but add nothing.
    """

    base: Floats
    of: OfTotals
    adds: Rows = _as_they_are
    silent: int = 0
    merged: Distinct | None = None

    def __len__(self) -> int:
        return len(self.base) + self.silent

    @cached_property
    def documents(self) -> Distinct:
        """What distinct documents add, and how many there are of each."""
        found = self.merged or distinct(self.base)
        return _with_silent(Distinct(self.adds(found.rows), found.times), self.silent)

    @cached_property
    def totals(self) -> Floats:
        """The sums over all documents."""
        sums: Floats = self.documents.times @ self.documents.rows
        return sums

    @property
    def value(self) -> float:
        """The score; NaN if it is not defined."""
        return float(self.of(self.totals[None])[0])

    def without_one(self) -> tuple[Floats, Longs]:
        """The score without one document: for each distinct document, and how many there are of it."""
        left = self.totals - self.documents.rows
        # What is left of fractions where nothing should be would make a score of rounding errors.
        left[np.abs(left) < _NEAR * np.abs(self.totals)] = 0.0
        return self.of(left), self.documents.times

    def in_order(self, order: Longs) -> Additive:
        """The same with documents in another order, or with some of them."""
        return replace(self, base=self.base[order], merged=None)


def _with_silent(documents: Distinct, silent: int) -> Distinct:
    """Documents, and some that add nothing."""
    if not silent:
        return documents
    nothing = np.zeros((1, documents.rows.shape[1]))
    return Distinct(np.concatenate([documents.rows, nothing]), np.append(documents.times, silent))


def mean_of(values: Floats) -> Additive:
    """The mean of one value per document, over those that have one (are not NaN)."""
    defined = ~np.isnan(values)
    base = np.column_stack([np.where(defined, values, 0.0), defined])
    return Additive(base, lambda sums: ratio(sums[:, 0], sums[:, 1]))


def combined(scores: Sequence[Additive], how: Callable[[Floats], Floats]) -> Additive:
    """A score made from several of the same documents; `how` gets one column for each of them."""
    if len({(len(score), score.silent) for score in scores}) != 1:
        sizes = " and ".join(str(len(score)) for score in scores)
        raise UsageError(f"scores of {sizes} documents cannot be put together. Take both over the same documents.")
    base_ends = np.cumsum([score.base.shape[1] for score in scores])[:-1]
    ends = np.cumsum([score.adds(score.base[:0]).shape[1] for score in scores])[:-1]

    def adds(rows: Floats) -> Floats:
        parts = np.split(rows, base_ends, axis=1)
        return np.hstack([score.adds(part) for score, part in zip(scores, parts, strict=True)])

    def of(sums: Floats) -> Floats:
        parts = np.split(sums, ends, axis=1)
        return how(np.column_stack([score.of(part) for score, part in zip(scores, parts, strict=True)]))

    return Additive(np.hstack([score.base for score in scores]), of, adds, scores[0].silent)


def difference(one: Additive, two: Additive) -> Additive:
    """The score of the first less that of the second; row by row they must be the same documents."""
    return combined([one, two], lambda values: values[:, 0] - values[:, 1])


def resampled(scores: Sequence[Additive], resamples: int, seed: int) -> list[Floats]:
    """For each score its values in samples of as many documents, drawn with replacement.

    Scores on one `base` share the draws, which are made once.
    """
    values: list[Floats] = [np.zeros(0)] * len(scores)
    for base in {id(score.base): score.base for score in scores}.values():
        own = [place for place, score in enumerate(scores) if score.base is base]
        rows = [scores[place].documents.rows for place in own]
        totals = drawn_totals(Distinct(np.hstack(rows), scores[own[0]].documents.times), resamples, seed)
        ends = np.cumsum([part.shape[1] for part in rows])[:-1]
        for place, sums in zip(own, np.split(totals, ends, axis=1), strict=True):
            values[place] = scores[place].of(sums)
    return values


def standard_error(score: Additive, resamples: int = 1000, seed: int = 0) -> float | None:
    """How far the score lies from itself in samples of as many documents; None where fewer than two have one."""
    values = resampled([score], resamples, seed)[0]
    values = values[~np.isnan(values)]
    return float(values.std(ddof=1)) if len(values) > 1 else None
