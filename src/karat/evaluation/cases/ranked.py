"""Scored and ranked answers, as a fold over verdicts."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from karat.matching.read.pairing import Pairing
from karat.model.tables.columns import Floats, Longs
from karat.model.verdict import Outcome, Verdicts
from karat.stats.ranking import Ranking

_RIGHT = (Outcome.TP, Outcome.MATCHED_ANSWER)
_COUNTED = (*_RIGHT, Outcome.FP, Outcome.WRONG_LINK)


def counted(cases: Verdicts) -> Longs:
    """The cases of single answers that count; a mention that only its parts together match has no answer of its own."""
    found: Longs = np.flatnonzero(np.isin(cases.outcome, _COUNTED) & (cases.answer >= 0))
    return found


def ranking_of(pairing: Pairing, cases: Verdicts) -> Ranking:
    """The entities of every document in the order in which the system puts them.

    By rank where answers have one, else by falling score; those without come last. Of equal ones the id that is
    written later in the alphabet comes first, as in trec_eval. A gold entity is worth the score of its tag, or 1.
    """
    labels = pairing.corpus.labels
    given = counted(cases)
    row, document = cases.answer[given], cases.document[given].astype(np.int64)
    order = np.lexsort((row, -_alphabetical(pairing)[row], _order_of(pairing)[row], document))
    wanted = (cases.outcome == Outcome.TP) | (cases.outcome == Outcome.FN) | (cases.outcome == Outcome.WRONG_LINK)
    gold = np.flatnonzero((wanted | (cases.outcome == Outcome.MATCHED_GOLD)) & (cases.gold >= 0))
    worth = labels.score()
    grade = np.where(np.isnan(worth), 1.0, worth)
    gain = np.where(cases.outcome[given] == Outcome.TP, np.append(grade, 0.0)[cases.gold[given]], 0.0)
    return Ranking(
        len(pairing.corpus),
        document[order],
        gain[order],
        cases.document[gold].astype(np.int64),
        grade[cases.gold[gold]],
    )


def _order_of(pairing: Pairing) -> Floats:
    """What answers are sorted by: their rank, or their score from the highest on."""
    answers = pairing.run.answers
    rank = answers.field("rank")
    if rank is not None:
        place = rank.cast("float64").fill_null(np.inf).to_numpy(zero_copy_only=False)
        return np.asarray(place, np.float64)
    score = answers.score()
    return np.where(np.isnan(score), np.inf, -score)


def _alphabetical(pairing: Pairing) -> Longs:
    """The places of the answers' ids, as written, in the alphabet."""
    answers = pairing.run.answers
    place = np.zeros(len(answers.names) + 2, np.int64)
    place[pc.array_sort_indices(answers.names).to_numpy()] = np.arange(2, len(answers.names) + 2)
    return place[answers.entity]


def documents_of_scores(pairing: Pairing, cases: Verdicts) -> Longs:
    """The document of each answer that `scores_of` gives."""
    rows = counted(cases)
    score = np.append(pairing.run.answers.score(), np.nan)[cases.answer[rows]]
    document: Longs = cases.document[rows][~np.isnan(score)].astype(np.int64)
    return document


def scores_of(pairing: Pairing, cases: Verdicts) -> tuple[Floats, Floats]:
    """The scores of all answers that count and have one, and how right each of them is."""
    rows = counted(cases)
    score = np.append(pairing.run.answers.score(), np.nan)[cases.answer[rows]]
    weights = cases.weights()[rows]
    right: Floats = weights[:, 0] / np.maximum(weights[:, 0] + weights[:, 1], 1e-300)
    given = ~np.isnan(score)
    return score[given], right[given]
