"""Ranked and scored predictions, derived from verdicts."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from karat.matching.read.pairing import Pairing
from karat.model.results.ranking import Ranking
from karat.model.results.verdict import Outcome, Verdicts
from karat.model.tables.columns import Floats, Longs

_CORRECT = (Outcome.TP, Outcome.MATCHED_PREDICTION)
_COUNTED = (*_CORRECT, Outcome.FP, Outcome.WRONG_LINK)


def find_counted_predictions(cases: Verdicts) -> Longs:
    """Return the indices of the cases whose prediction counts as correct or wrong.

    Missed mentions are not among them, nor are mentions that several predictions match only together.
    """
    rows: Longs = np.flatnonzero(np.isin(cases.outcome, _COUNTED) & (cases.prediction >= 0))
    return rows


def build_ranking(pairing: Pairing, cases: Verdicts) -> Ranking:
    """Return the predicted entities of every document in the order of the system, with gains, and the gold gains.

    Entities are sorted by rank if predictions have a rank, else by descending score; entities without either come last.
    On ties, the id that is later in the alphabet comes first, as in trec_eval. The gain of a gold entity is the score
    of its tag, or 1.
    """
    labels = pairing.corpus.labels
    rows = find_counted_predictions(cases)
    row, document = cases.prediction[rows], cases.document[rows].astype(np.int64)
    order = np.lexsort((row, -_alphabetical_ranks(pairing)[row], _sort_keys(pairing)[row], document))
    is_gold = (cases.outcome == Outcome.TP) | (cases.outcome == Outcome.FN) | (cases.outcome == Outcome.WRONG_LINK)
    gold = np.flatnonzero((is_gold | (cases.outcome == Outcome.MATCHED_GOLD)) & (cases.gold >= 0))
    gold_score = labels.score()
    grade = np.where(np.isnan(gold_score), 1.0, gold_score)
    gain = np.where(cases.outcome[rows] == Outcome.TP, np.append(grade, 0.0)[cases.gold[rows]], 0.0)
    return Ranking(
        len(pairing.corpus),
        document[order],
        gain[order],
        cases.document[gold].astype(np.int64),
        grade[cases.gold[gold]],
    )


def _sort_keys(pairing: Pairing) -> Floats:
    """Return the value that each prediction is sorted by: its rank, or its negative score; infinity if unknown."""
    predictions = pairing.run.predictions
    rank = predictions.field("rank")
    if rank is not None:
        rank_values = rank.cast("float64").fill_null(np.inf).to_numpy(zero_copy_only=False)
        return np.asarray(rank_values, np.float64)
    score = predictions.score()
    return np.where(np.isnan(score), np.inf, -score)


def _alphabetical_ranks(pairing: Pairing) -> Longs:
    """Return the alphabetical rank of each prediction's id as written; 0 for NIL and unlinked predictions."""
    predictions = pairing.run.predictions
    ranks = np.zeros(len(predictions.names) + 2, np.int64)
    ranks[pc.array_sort_indices(predictions.names).to_numpy()] = np.arange(2, len(predictions.names) + 2)
    return ranks[predictions.entity]


def get_scored_documents(pairing: Pairing, cases: Verdicts) -> Longs:
    """Return the document index of each prediction that `get_scored_predictions` returns, in the same order."""
    rows = find_counted_predictions(cases)
    score = np.append(pairing.run.predictions.score(), np.nan)[cases.prediction[rows]]
    document: Longs = cases.document[rows][~np.isnan(score)].astype(np.int64)
    return document


def get_scored_predictions(pairing: Pairing, cases: Verdicts) -> tuple[Floats, Floats]:
    """Return the scores of all counted predictions that have one, and the degree to which each is correct (0 to 1)."""
    rows = find_counted_predictions(cases)
    score = np.append(pairing.run.predictions.score(), np.nan)[cases.prediction[rows]]
    weights = cases.weights()[rows]
    correct: Floats = weights[:, 0] / np.maximum(weights[:, 0] + weights[:, 1], 1e-300)
    has_score = ~np.isnan(score)
    return score[has_score], correct[has_score]
