"""Ranked predictions with the gold entities they are compared with."""

from __future__ import annotations

import msgspec
import numpy as np

from karat.model.errors import UsageError
from karat.model.tables.columns import Bools, Floats, Longs


class Ranking(msgspec.Struct, frozen=True):
    """The ranked predictions and the gold entities of all documents."""

    n_documents: int
    """The number of documents."""
    document: Longs
    """The document of each prediction; predictions are sorted by document, then rank."""
    gain: Floats
    """The gain of each prediction: 0 if wrong, else 1 or the grade of the gold entity.

    Only the first prediction of an entity is correct; repetitions are wrong.
    """
    gold_document: Longs
    """The document of each gold entity, in any order."""
    gold_gain: Floats
    """The grade of each gold entity; 0 if it need not be found."""

    def __post_init__(self) -> None:
        if np.any(self.document[1:] < self.document[:-1]):
            raise UsageError("ranked predictions are not sorted. Sort them by document, then rank.")
        if np.any(self.gain < 0) or np.any(self.gold_gain < 0):
            raise UsageError("a gain is negative. Use 0 for wrong predictions and positive gains for correct ones.")
        if np.any(np.bincount(self.document[self.is_correct], minlength=self.n_documents) > self.n_gold):
            raise UsageError(
                "a document has more correct predictions than gold entities. Count each entity at its first rank only."
            )

    @property
    def is_correct(self) -> Bools:
        """Mask of the predictions, in the order of `document`, that have a gain: their entity is a gold entity."""
        return self.gain > 0

    @property
    def rank(self) -> Longs:
        """The rank of each prediction in its document, from 1."""
        return ranks_within_documents(self.document, self.n_documents)

    @property
    def n_gold(self) -> Floats:
        """The number of gold entities to find in each document."""
        return sum_per_document(self.gold_document, self.gold_gain > 0, self.n_documents)


def ranks_within_documents(document: Longs, n_documents: int) -> Longs:
    """Return the position of each row among the rows of its document, from 1; rows must be sorted by document."""
    counts = np.bincount(document, minlength=n_documents)
    before = np.cumsum(counts) - counts
    ranks: Longs = np.arange(1, len(document) + 1) - before[document]
    return ranks


def sum_per_document(document: Longs, values: Floats | Bools, n_documents: int) -> Floats:
    """Return the sum of `values` for each of `n_documents` documents; value i belongs to `document[i]`."""
    return np.asarray(np.bincount(document, values, n_documents), np.float64)
