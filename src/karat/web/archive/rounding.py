"""Short numbers for web pages."""

from __future__ import annotations

from math import isfinite


def round_score(value: float | None) -> float | None:
    """Round a score to five digits if its percentage is printed alike; None if it is undefined or infinite.

    0.5445026 is printed as 54.5, but 0.5445 as 54.4: such a score is not rounded.
    """
    if value is None or not isfinite(value):
        return None
    short = round(value, 5)
    return short if f"{100 * short:.1f}" == f"{100 * value:.1f}" else float(value)
