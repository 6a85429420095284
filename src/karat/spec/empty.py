"""What a score is where one side, or both, have nothing to count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from karat.model.columns import Floats
from karat.model.statistics import Statistics


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
    """One table each for documents, for documents in a part of the data (a filter, a label value), for totals."""

    documents: Empty
    parts: Empty
    totals: Empty


_UNDEFINED = Triple(None, None, None)
_NO_GOLD = Triple(0.0, None, 0.0)
_NO_ANSWERS = Triple(None, 0.0, 0.0)

EMPTY: dict[str, EmptyRule] = {
    "fair": EmptyRule(
        documents=Empty(Triple(1.0, 1.0, 1.0), _NO_GOLD, _NO_ANSWERS),
        parts=Empty(_UNDEFINED, _NO_GOLD, _NO_ANSWERS),
        totals=Empty(_UNDEFINED, _NO_GOLD, _NO_ANSWERS),
    ),
}
"""`fair`: a document with nothing to find, in which nothing was found, was answered perfectly; but a document that
a filter emptied says nothing, and neither does a corpus without a single case."""


def filled(values: Floats, s: Statistics, cases: Iterable[float | None]) -> Floats:
    """The values, with those of the three empty cases put in: both sides empty, no gold, no answers."""
    no_gold, no_answers = s.gold == 0, s.answers == 0
    when = [no_gold & no_answers, no_gold, no_answers]
    return np.select(when, [np.nan if case is None else case for case in cases], values)
