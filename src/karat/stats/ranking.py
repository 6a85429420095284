"""Measures of ranked answers: one value per document, NaN where it has no gold entity and so nothing to find.

Answers are right or wrong for all but `ndcg`, which alone looks at grades. Conventions are those of trec_eval.
"""

from __future__ import annotations

import msgspec
import numpy as np

from karat.errors import UsageError
from karat.model.statistics import ratio
from karat.model.tables.columns import Bools, Floats, Longs


class Ranking(msgspec.Struct, frozen=True):
    """Ranked answers and gold entities of all documents.

    Row i of `document` and `gain` is one answer; they are sorted by document, then rank. The gain is 0 where the
    answer is wrong, else 1 or the grade of the gold entity. An entity counts where it is named first: named again,
    it is wrong. Row i of `gold_document` and `gold_gain` is one gold entity, in any order; one of grade 0 need not
    be found.
    """

    documents: int
    document: Longs
    gain: Floats
    gold_document: Longs
    gold_gain: Floats

    def __post_init__(self) -> None:
        if np.any(self.document[1:] < self.document[:-1]):
            raise UsageError("ranked answers are not in the order of documents. Sort them by document, then rank.")
        if np.any(self.gain < 0) or np.any(self.gold_gain < 0):
            raise UsageError("a gain is negative. Give 0 to what is wrong, more to what is right.")
        if np.any(np.bincount(self.document[self.right], minlength=self.documents) > self.gold):
            raise UsageError(
                "a document has more right answers than gold entities. Count each entity at its first rank only."
            )

    @property
    def right(self) -> Bools:
        """Which answers are right."""
        return self.gain > 0

    @property
    def rank(self) -> Longs:
        """The rank of each answer in its document, from 1."""
        return _ranks(self.document, self.documents)

    @property
    def gold(self) -> Floats:
        """How many entities each document has to find."""
        return _sums(self.gold_document, self.gold_gain > 0, self.documents)


def precision_at(ranking: Ranking, k: int) -> Floats:
    """Right answers among the first k, divided by k even where fewer were given, as trec_eval does.

    Undefined without gold entity, like the rest, though 0 / k could be computed: no answer could be right.
    """
    return np.where(ranking.gold > 0, _found(ranking, _positive(k)) / k, np.nan)


def recall_at(ranking: Ranking, k: int) -> Floats:
    """Gold entities among the first k answers, as a share of all gold entities."""
    return ratio(_found(ranking, _positive(k)), ranking.gold)


def r_precision(ranking: Ranking) -> Floats:
    """Precision, and so recall, at the rank that equals the number of gold entities."""
    return ratio(_found(ranking, ranking.gold[ranking.document]), ranking.gold)


def reciprocal_rank(ranking: Ranking) -> Floats:
    """1 / rank of the first right answer, 0 if there is none."""
    hits = np.flatnonzero(ranking.right)
    first = hits[_ranks(ranking.document[hits], ranking.documents) == 1]
    values = np.where(ranking.gold > 0, 0.0, np.nan)
    values[ranking.document[first]] = 1 / ranking.rank[first]
    return values


def average_precision(ranking: Ranking) -> Floats:
    """The precisions at the ranks of the right answers, summed and divided by the number of gold entities."""
    hits = np.flatnonzero(ranking.right)
    document = ranking.document[hits]
    precision = _ranks(document, ranking.documents) / ranking.rank[hits]
    return ratio(_sums(document, precision, ranking.documents), ranking.gold)


def ndcg(ranking: Ranking, k: int | None = None) -> Floats:
    """Normalised discounted cumulative gain of the first k answers, or of all.

    The sum of gain / log2(rank + 1), divided by that of the best ranking of the gold entities. Gains enter as they
    are, as in trec_eval, not as 2^gain - 1. After Järvelin and Kekäläinen, ACM TOIS 20(4), 2002.
    """
    depth = np.inf if k is None else _positive(k)
    best = np.lexsort((-ranking.gold_gain, ranking.gold_document))
    given = _discounted(ranking.document, ranking.gain, ranking.documents, depth)
    ideal = _discounted(ranking.gold_document[best], ranking.gold_gain[best], ranking.documents, depth)
    return ratio(given, ideal)


def _ranks(document: Longs, documents: int) -> Longs:
    """The place of each row among those of its document, from 1; rows are sorted by document."""
    count = np.bincount(document, minlength=documents)
    before = np.cumsum(count) - count
    ranks: Longs = np.arange(1, len(document) + 1) - before[document]
    return ranks


def _sums(document: Longs, values: Floats | Bools, documents: int) -> Floats:
    return np.asarray(np.bincount(document, values, documents), np.float64)


def _found(ranking: Ranking, depth: int | Floats) -> Floats:
    """Right answers per document, down to a rank that is the same for all answers or given for each."""
    return _sums(ranking.document, ranking.right & (ranking.rank <= depth), ranking.documents)


def _discounted(document: Longs, gain: Floats, documents: int, depth: float) -> Floats:
    rank = _ranks(document, documents)
    return _sums(document, np.where(rank <= depth, gain / np.log2(rank + 1), 0.0), documents)


def _positive(k: int) -> int:
    if k < 1:
        raise UsageError(f"k is {k}. Give a rank of at least 1.")
    return k
