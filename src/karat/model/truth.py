"""Yes, no, or not known: what holds of each case as far as the facts reach."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.model.tables.columns import Bools

Truth: TypeAlias = NDArray[np.int8]
"""One of `NO`, `UNKNOWN` and `YES` for each case."""

NO, UNKNOWN, YES = np.int8(0), np.int8(1), np.int8(2)


def sure(mask: Bools) -> Truth:
    """What is known throughout."""
    return np.where(mask, YES, NO)


def told(values: Iterable[bool | None]) -> Truth:
    """Answers of a knowledge base, None where it does not know."""
    return np.array([UNKNOWN if value is None else YES if value else NO for value in values], np.int8)


def both(*conditions: Truth | Bools) -> Truth:
    """Whether all hold: one that does not decides, whatever is known of the others."""
    holds: Truth = np.minimum.reduce([_truth(condition) for condition in conditions])
    return holds


def either(*conditions: Truth | Bools) -> Truth:
    """Whether one holds: one that does decides, whatever is known of the others."""
    holds: Truth = np.maximum.reduce([_truth(condition) for condition in conditions])
    return holds


def negated(condition: Truth) -> Truth:
    """Whether it does not hold."""
    return YES - condition


def _truth(condition: Truth | Bools) -> Truth:
    return condition.astype(np.int8) * YES if condition.dtype == np.bool_ else condition.astype(np.int8, copy=False)
