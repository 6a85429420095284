"""Three-valued logic for conditions on cases: yes, no or unknown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.model.tables.columns import Bools

Truth: TypeAlias = NDArray[np.int8]
"""One of `NO`, `UNKNOWN` and `YES` for each case."""

NO, UNKNOWN, YES = np.int8(0), np.int8(1), np.int8(2)


def from_mask(mask: Bools) -> Truth:
    """Return `YES` where `mask` is true and `NO` elsewhere."""
    return np.where(mask, YES, NO)


def from_optional(values: Iterable[bool | None]) -> Truth:
    """Return `YES` for true, `NO` for false and `UNKNOWN` for None."""
    return np.array([UNKNOWN if value is None else YES if value else NO for value in values], np.int8)


def all_of(*conditions: Truth | Bools) -> Truth:
    """Return for each case whether all conditions hold: `NO` if any is `NO`, else `UNKNOWN` if any is unknown."""
    truth: Truth = np.minimum.reduce([_to_truth(condition) for condition in conditions])
    return truth


def any_of(*conditions: Truth | Bools) -> Truth:
    """Return for each case whether any condition holds: `YES` if any is `YES`, else `UNKNOWN` if any is unknown."""
    truth: Truth = np.maximum.reduce([_to_truth(condition) for condition in conditions])
    return truth


def negate(condition: Truth) -> Truth:
    """Return the negation of a condition for each case; `UNKNOWN` stays `UNKNOWN`."""
    return YES - condition


def _to_truth(condition: Truth | Bools) -> Truth:
    """Return a mask or truth values as truth values."""
    return condition.astype(np.int8) * YES if condition.dtype == np.bool_ else condition.astype(np.int8, copy=False)
