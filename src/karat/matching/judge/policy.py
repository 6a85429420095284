"""What a case is worth: the state of the gold against the state of the answer.

The table is the rule itself, and is printed in the documentation as it stands here.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from karat.model.verdict import Outcome


class GoldState(IntEnum):
    """What the gold says at a place."""

    NONE = 0
    REQUIRED = 1
    OPTIONAL = 2
    WITHOUT_LINK = 3


class AnswerState(IntEnum):
    """What the system says at that place."""

    NONE = 0
    RIGHT = 1
    WRONG = 2


FAIR: dict[tuple[GoldState, AnswerState], Outcome] = {
    (GoldState.NONE, AnswerState.WRONG): Outcome.FP,
    (GoldState.REQUIRED, AnswerState.NONE): Outcome.FN,
    (GoldState.REQUIRED, AnswerState.RIGHT): Outcome.TP,
    (GoldState.REQUIRED, AnswerState.WRONG): Outcome.WRONG_LINK,
    (GoldState.OPTIONAL, AnswerState.NONE): Outcome.IGNORED,
    (GoldState.OPTIONAL, AnswerState.RIGHT): Outcome.IGNORED,
    (GoldState.OPTIONAL, AnswerState.WRONG): Outcome.FP,
    (GoldState.WITHOUT_LINK, AnswerState.NONE): Outcome.IGNORED,
    (GoldState.WITHOUT_LINK, AnswerState.RIGHT): Outcome.IGNORED,
    (GoldState.WITHOUT_LINK, AnswerState.WRONG): Outcome.IGNORED,
}
"""The default. NIL is a link like any other here: NIL for NIL is right, NIL for an entity is wrong.

`WITHOUT_LINK` is a gold span that names no entity, or need not name one, so that no link can be called wrong there;
where links are not compared it is required or optional like the rest. Answers without link are left out where links
are compared."""


def lookup(table: dict[tuple[GoldState, AnswerState], Outcome]) -> NDArray[np.int32]:
    """The table as an array, to be indexed by states; combinations that cannot occur are -1."""
    array = np.full((len(GoldState), len(AnswerState)), -1, np.int32)
    for (gold, answer), outcome in table.items():
        array[gold, answer] = outcome
    return array


TABLE = lookup(FAIR)
"""The default as an array."""
