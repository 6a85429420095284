"""Scores of documents and totals without gold mentions or predictions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from karat.model.results.statistics import Statistics
from karat.model.tables.columns import Floats


class ScoreTriple(NamedTuple):
    """Precision, recall and F1. None means undefined; averages skip it."""

    p: float | None
    """Precision."""
    r: float | None
    """Recall."""
    f1: float | None
    """F1."""


class Empty(NamedTuple):
    """The scores in the three cases in which a formula divides by zero."""

    both: ScoreTriple
    """Neither gold mentions nor predictions."""
    no_gold: ScoreTriple
    """Predictions, but no gold mentions."""
    no_predictions: ScoreTriple
    """Gold mentions, but no predictions."""


class EmptyRule(NamedTuple):
    """A value of the setting `empty`: scores of empty documents and totals, in all data and in filtered data."""

    description: str
    """One or two sentences for explanations."""
    documents: Empty
    """The scores of a document."""
    totals: Empty
    """The scores of a total."""
    filtered_documents: Empty
    """The scores of a document in a filtered view or group."""
    filtered_totals: Empty
    """The total of a filtered view or group."""

    def tables(self) -> dict[str, Empty]:
        """Return the four tables of scores, each by a phrase that says where it applies, for explanations."""
        return {
            "a document": self.documents,
            "a total": self.totals,
            "a document in a filtered view or group": self.filtered_documents,
            "the total of a filtered view or group": self.filtered_totals,
        }


_UNDEFINED, _ZERO, _PERFECT = ScoreTriple(None, None, None), ScoreTriple(0.0, 0.0, 0.0), ScoreTriple(1.0, 1.0, 1.0)
_NO_GOLD, _NO_PREDICTIONS = ScoreTriple(0.0, None, 0.0), ScoreTriple(None, 0.0, 0.0)
_FAIR = Empty(_UNDEFINED, _NO_GOLD, _NO_PREDICTIONS)
_GERBIL = Empty(_PERFECT, _ZERO, _ZERO)
_BAT = Empty(_PERFECT, ScoreTriple(0.0, 1.0, 0.0), ScoreTriple(1.0, 0.0, 0.0))
_HIPE = Empty(_UNDEFINED, ScoreTriple(0.0, None, None), ScoreTriple(None, 0.0, None))
_NELEVAL = Empty(_ZERO, _ZERO, _ZERO)

EMPTY: dict[str, EmptyRule] = {
    "fair": EmptyRule(
        "A document without gold mentions and predictions scores 1. Without gold mentions only, P is 0, R undefined "
        "and F1 0; without predictions only, P is undefined, R 0 and F1 0. A document emptied by a filter or group, "
        "and a total without any case, is undefined.",
        documents=_FAIR._replace(both=_PERFECT),
        totals=_FAIR,
        filtered_documents=_FAIR,
        filtered_totals=_FAIR,
    ),
    "gerbil": EmptyRule(
        "Without gold mentions and predictions, P, R and F1 are 1, in filtered views too; without one of the two, they "
        "are 0. A filtered view without any case in the corpus has no scores.",
        documents=_GERBIL,
        totals=_GERBIL,
        filtered_documents=_GERBIL,
        filtered_totals=_GERBIL._replace(both=_UNDEFINED),
    ),
    "bat": EmptyRule(
        "Without predictions P is 1, and without gold mentions R is 1. F1 is 1 if both are missing and 0 if only one "
        "is.",
        documents=_BAT,
        totals=_BAT,
        filtered_documents=_BAT,
        filtered_totals=_BAT,
    ),
    "hipe": EmptyRule(
        "P of a document without predictions, R of one without gold mentions, and F1 of either are undefined and "
        "excluded from means. A total that would divide by zero is 0.",
        documents=_HIPE,
        totals=_NELEVAL,
        filtered_documents=_HIPE,
        filtered_totals=_NELEVAL,
    ),
    "zero": EmptyRule(
        "A score that would divide by zero is 0.",
        documents=_NELEVAL,
        totals=_NELEVAL,
        filtered_documents=_NELEVAL,
        filtered_totals=_NELEVAL,
    ),
}
"""The values of the setting `empty`.

Why `fair`: no prediction on a document without gold mentions is perfect. A document that a filter emptied and a corpus
without any case carry no information.
"""


def fill_empty_cases(values: Floats, s: Statistics, cases: Iterable[float | None]) -> Floats:
    """Return the values of a measure, one per row of `s`, with the rows replaced in which a side is empty.

    `cases` are the values without gold mentions and predictions, without gold mentions only, and without predictions
    only; None becomes NaN. Mentions of weight 0 are not gold. Precision still counts the predictions that match them,
    so a defined value with matched predictions stays.
    """
    no_gold, no_predictions = s.gold == 0, s.predictions == 0
    if not (no_gold.any() or no_predictions.any()):
        return values
    has_value = (s.matched_predictions > 0) & ~np.isnan(values)
    neither, without_gold, without_predictions = (np.nan if case is None else case for case in cases)
    filled = np.where(no_gold & ~has_value, without_gold, np.where(no_predictions, without_predictions, values))
    return np.where(no_gold & no_predictions, neither, filled)
