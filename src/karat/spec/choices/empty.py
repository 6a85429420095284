"""What a score is where one side, or both, have nothing to count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from karat.model.statistics import Statistics
from karat.model.tables.columns import Floats


class Triple(NamedTuple):
    """Precision, recall and F1; None is undefined, and left out of means."""

    p: float | None
    r: float | None
    f1: float | None


class Empty(NamedTuple):
    """The three cases in which a formula divides by zero."""

    both: Triple
    no_gold: Triple
    no_answers: Triple


class EmptyRule(NamedTuple):
    """What holds for documents and for totals, and for both in a part of the data (a filter, a label value)."""

    says: str
    documents: Empty
    totals: Empty
    part_documents: Empty
    part_totals: Empty

    def levels(self) -> dict[str, Empty]:
        """The tables by what they are about."""
        return {
            "a document": self.documents,
            "a total": self.totals,
            "a document in a filtered view or group": self.part_documents,
            "the total of a filtered view or group": self.part_totals,
        }


_NONE, _ZERO, _ONE = Triple(None, None, None), Triple(0.0, 0.0, 0.0), Triple(1.0, 1.0, 1.0)
_NO_GOLD, _NO_ANSWERS = Triple(0.0, None, 0.0), Triple(None, 0.0, 0.0)
_FAIR = Empty(_NONE, _NO_GOLD, _NO_ANSWERS)
_GERBIL = Empty(_ONE, _ZERO, _ZERO)
_BAT = Empty(_ONE, Triple(0.0, 1.0, 0.0), Triple(1.0, 0.0, 0.0))
_HIPE = Empty(_NONE, Triple(0.0, None, None), Triple(None, 0.0, None))
_NELEVAL = Empty(_ZERO, _ZERO, _ZERO)

EMPTY: dict[str, EmptyRule] = {
    "fair": EmptyRule(
        "A document without gold and without answers scores 1; without gold alone P 0, R undefined, F1 0; without "
        "answers alone P undefined, R 0, F1 0. A document that a filter or label value leaves empty, and a total "
        "without any case, is undefined.",
        documents=_FAIR._replace(both=_ONE),
        totals=_FAIR,
        part_documents=_FAIR,
        part_totals=_FAIR,
    ),
    "gerbil": EmptyRule(
        "Without gold and without answers P, R and F1 are 1, in filtered views too; without one of the two they are "
        "0. A filtered view without any case in the whole corpus has no scores.",
        documents=_GERBIL,
        totals=_GERBIL,
        part_documents=_GERBIL,
        part_totals=_GERBIL._replace(both=_NONE),
    ),
    "bat": EmptyRule(
        "Without answers P is 1 and without gold R is 1, which gives F1 0 if the other side is there and 1 if not.",
        documents=_BAT,
        totals=_BAT,
        part_documents=_BAT,
        part_totals=_BAT,
    ),
    "hipe": EmptyRule(
        "A document without answers has no P, one without gold no R, and one that lacks either no F1; none of them "
        "goes into the mean. A total that would divide by zero is 0.",
        documents=_HIPE,
        totals=_NELEVAL,
        part_documents=_HIPE,
        part_totals=_NELEVAL,
    ),
    "zero": EmptyRule(
        "A score that would divide by zero is 0.",
        documents=_NELEVAL,
        totals=_NELEVAL,
        part_documents=_NELEVAL,
        part_totals=_NELEVAL,
    ),
}
"""`fair`: a document with nothing to find, in which nothing was found, was answered perfectly; but a document that
a filter emptied says nothing, and neither does a corpus without a single case."""


def filled(values: Floats, s: Statistics, cases: Iterable[float | None]) -> Floats:
    """The values, with those of the three empty cases put in: both sides empty, no gold, no answers.

    Mentions that weigh nothing are no gold, but precision counts the answers that match them, and stays.
    """
    no_gold, no_answers = s.gold == 0, s.answers == 0
    if not (no_gold.any() or no_answers.any()):
        return values
    stays = (s.matched_answers > 0) & ~np.isnan(values)
    neither, without_gold, without_answers = (np.nan if case is None else case for case in cases)
    found = np.where(no_gold & ~stays, without_gold, np.where(no_answers, without_answers, values))
    return np.where(no_gold & no_answers, neither, found)
