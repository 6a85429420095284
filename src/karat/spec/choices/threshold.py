"""Below which score answers are left out, and how such a threshold is found."""

from __future__ import annotations

import math
import re
from typing import Literal, NamedTuple

from karat.errors import KaratError

_FIXED = re.compile(r"(?P<strict>>(?!=)|>=)? *(?P<number>[^ ]+)(?P<tuned> tuned on .+)?")

STEPS = 128
"""BAT tries 0, 1/128, … up to 1: 129 thresholds."""


class Sweep(NamedTuple):
    """Which thresholds are tried, whether a score must exceed them, and what the best one maximises.

    On ties the lowest is taken. Answers without score always stay.
    """

    grid: Literal["scores", "steps"]
    strict: bool
    criterion: str
    typing_drops_zero: bool = False
    """GERBIL's typing goes through older code, in which no threshold means a score above 0."""

    @property
    def steps(self) -> int | None:
        """Into how many steps the unit interval is divided, None where every score is tried."""
        return STEPS if self.grid == "steps" else None


SWEEPS: dict[str, Sweep] = {
    "oracle": Sweep("scores", False, "micro.f1"),
    "oracle-gerbil": Sweep("scores", True, "micro.f1", typing_drops_zero=True),
    "oracle-bat": Sweep("steps", False, "macro.f1"),
    "oracle-bat-paper": Sweep("steps", False, "micro.f1"),
}


class Threshold(NamedTuple):
    """Answers stay that have a score of at least `at`, or above it if `strict`; None keeps all."""

    at: float | None = None
    strict: bool = False

    def __str__(self) -> str:
        return "none" if self.at is None else f"{'>' if self.strict else ''}{self.at!r}"


def threshold_of(text: str) -> Threshold | Sweep:
    """What the choice `threshold` says: a fixed threshold, none, or how to find the best one."""
    if text in SWEEPS:
        return SWEEPS[text]
    if text == "none":
        return Threshold()
    match = _FIXED.fullmatch(text)
    try:
        value = float(match["number"]) if match else math.nan
    except ValueError:
        value = math.nan
    if match is None or math.isnan(value):
        known = ", ".join(SWEEPS)
        raise KaratError(f"threshold {text!r} is no number. Give a number, >NUMBER, none, or one of {known}.")
    return Threshold(value, match["strict"] == ">")
