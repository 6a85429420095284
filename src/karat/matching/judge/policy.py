"""Outcome of each case, from the state of the gold standard and the state of the prediction.

The documentation prints this table.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from karat.model.results.verdict import Outcome


class GoldState(IntEnum):
    """State of the gold standard in a case."""

    NONE = 0
    """No gold mention."""
    REQUIRED = 1
    """A mention that counts as missed if it is not found."""
    OPTIONAL = 2
    """A mention that may be found or not."""
    UNLINKED = 3
    """A mention without link, where no link is wrong."""


class PredictionState(IntEnum):
    """State of the prediction in a case."""

    NONE = 0
    """No prediction."""
    CORRECT = 1
    """A prediction that matches the mention."""
    WRONG = 2
    """A prediction that matches no mention."""


OUTCOME_TABLE: dict[tuple[GoldState, PredictionState], Outcome] = {
    (GoldState.NONE, PredictionState.WRONG): Outcome.FP,
    (GoldState.REQUIRED, PredictionState.NONE): Outcome.FN,
    (GoldState.REQUIRED, PredictionState.CORRECT): Outcome.TP,
    (GoldState.REQUIRED, PredictionState.WRONG): Outcome.WRONG_LINK,
    (GoldState.OPTIONAL, PredictionState.NONE): Outcome.IGNORED,
    (GoldState.OPTIONAL, PredictionState.CORRECT): Outcome.IGNORED,
    (GoldState.OPTIONAL, PredictionState.WRONG): Outcome.FP,
    (GoldState.UNLINKED, PredictionState.NONE): Outcome.IGNORED,
    (GoldState.UNLINKED, PredictionState.CORRECT): Outcome.IGNORED,
    (GoldState.UNLINKED, PredictionState.WRONG): Outcome.IGNORED,
}
"""Default outcomes. NIL is a link like any other: NIL for NIL is correct, NIL for an entity is wrong.

`UNLINKED` is a gold span without an entity, so no link is wrong there. If links are not compared, the span is
required or optional like the others. Unlinked predictions are dropped if links are compared.
"""


def build_outcome_array(table: dict[tuple[GoldState, PredictionState], Outcome]) -> NDArray[np.int32]:
    """Return the outcomes as an array indexed by gold state and prediction state; -1 for impossible combinations."""
    array = np.full((len(GoldState), len(PredictionState)), -1, np.int32)
    for (gold, prediction), outcome in table.items():
        array[gold, prediction] = outcome
    return array


OUTCOMES = build_outcome_array(OUTCOME_TABLE)
"""The default outcomes as an array."""
