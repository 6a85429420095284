"""Measures of rankings: one value per document, NaN for documents without gold entity.

Only `ndcg` uses grades. The definitions are those of trec_eval.
"""

from __future__ import annotations

import numpy as np

from karat.model.errors import UsageError
from karat.model.results.ranking import Ranking, ranks_within_documents, sum_per_document
from karat.model.results.statistics import ratio
from karat.model.tables.columns import Floats, Longs


def precision_at(ranking: Ranking, k: int) -> Floats:
    """Return for each document the number of correct predictions among the first k, divided by k.

    The divisor is k even if there are fewer predictions; NaN without gold entity, like the other measures.
    """
    return np.where(ranking.n_gold > 0, _count_correct(ranking, _check_rank(k)) / k, np.nan)


def recall_at(ranking: Ranking, k: int) -> Floats:
    """Return for each document the share of its gold entities that are among the first k predictions."""
    return ratio(_count_correct(ranking, _check_rank(k)), ranking.n_gold)


def r_precision(ranking: Ranking) -> Floats:
    """Return for each document the precision among the first n predictions, where n is its number of gold entities."""
    return ratio(_count_correct(ranking, ranking.n_gold[ranking.document]), ranking.n_gold)


def reciprocal_rank(ranking: Ranking) -> Floats:
    """Return for each document 1 / rank of the first correct prediction; 0 if there is none."""
    hits = np.flatnonzero(ranking.is_correct)
    first = hits[ranks_within_documents(ranking.document[hits], ranking.n_documents) == 1]
    values = np.where(ranking.n_gold > 0, 0.0, np.nan)
    values[ranking.document[first]] = 1 / ranking.rank[first]
    return values


def average_precision(ranking: Ranking) -> Floats:
    """Return for each document the sum of precisions at the ranks of correct predictions, over its gold entities."""
    hits = np.flatnonzero(ranking.is_correct)
    document = ranking.document[hits]
    precision = ranks_within_documents(document, ranking.n_documents) / ranking.rank[hits]
    return ratio(sum_per_document(document, precision, ranking.n_documents), ranking.n_gold)


def ndcg(ranking: Ranking, k: int | None = None) -> Floats:
    """Return for each document the normalised discounted cumulative gain of the first k predictions; None for all.

    The sum of gain / log2(rank + 1), divided by that of the best ranking of the gold entities. Gains are used as given,
    as in trec_eval, not as 2^gain - 1. After Järvelin and Kekäläinen, ACM TOIS 20(4), 2002.
    """
    depth = np.inf if k is None else _check_rank(k)
    best = np.lexsort((-ranking.gold_gain, ranking.gold_document))
    gain = _discounted_gain(ranking.document, ranking.gain, ranking.n_documents, depth)
    ideal = _discounted_gain(ranking.gold_document[best], ranking.gold_gain[best], ranking.n_documents, depth)
    return ratio(gain, ideal)


def _count_correct(ranking: Ranking, depth: int | Floats) -> Floats:
    """Return for each document the number of correct predictions up to the rank `depth`.

    `depth` is common to all documents, or given for each prediction.
    """
    return sum_per_document(ranking.document, ranking.is_correct & (ranking.rank <= depth), ranking.n_documents)


def _discounted_gain(document: Longs, gain: Floats, n_documents: int, depth: float) -> Floats:
    """Return for each document the sum of gain / log2(rank + 1) up to the rank `depth`.

    `document` and `gain` have one entry per entity, in the order of rank within each document.
    """
    rank = ranks_within_documents(document, n_documents)
    return sum_per_document(document, np.where(rank <= depth, gain / np.log2(rank + 1), 0.0), n_documents)


def _check_rank(k: int) -> int:
    """Return `k`; raise `UsageError` if it is below 1."""
    if k < 1:
        raise UsageError(f"k is {k}. Give a rank of at least 1.")
    return k
