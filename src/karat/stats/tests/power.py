"""What a benchmark can tell apart: the smallest difference that a test on its documents would find.

From the standard error of the difference of two systems on the same documents (`standard_error` of `difference`),
taken as normal.
"""

from __future__ import annotations

from math import ceil

from karat.errors import UsageError
from karat.stats.normal import normal_quantile, normal_share
from karat.stats.samples.bootstrap import checked_level


def detectable(error: float, *, level: float = 0.95, power: float = 0.8) -> float:
    """The difference that a two-sided test finds with a chance of `power`, when 1 - `level` false alarms are accepted.

    Two systems that truly differ by less are found to differ less often: the benchmark cannot be relied on to separate
    them.
    """
    checked_level(level)
    _checked(error, power)
    return error * (normal_quantile((1 + level) / 2) + normal_quantile(power))


def power_of(true: float, error: float, *, level: float = 0.95) -> float:
    """The chance that a true difference is found."""
    checked_level(level)
    _checked(error, 0.5)
    end = normal_quantile((1 + level) / 2)
    if not error:
        return 1.0 if true else 0.0
    return normal_share(true / error - end) + normal_share(-true / error - end)


def documents_needed(
    true: float, error: float, documents: int, *, level: float = 0.95, power: float = 0.8
) -> int | None:
    """How many documents of the same kind would separate systems that truly differ so much; None if they do not."""
    if not true:
        return None
    return ceil(documents * (detectable(error, level=level, power=power) / true) ** 2)


def _checked(error: float, power: float) -> None:
    if not error >= 0:
        raise UsageError(f"the standard error is {error}. Give a number from 0 on.")
    if not 0.5 <= power < 1:
        raise UsageError(f"power is {power}. Give a chance from 0.5 to below 1, such as 0.8.")
