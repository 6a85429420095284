"""Score thresholds for predictions, and how oracle thresholds are tuned."""

from __future__ import annotations

import math
import re
from typing import Literal, NamedTuple

from karat.model.errors import KaratError

_FIXED = re.compile(r"(?P<strict>>(?!=)|>=)? *(?P<number>[^ ]+)(?P<tuned> tuned on .+)?")

STEPS = 128
"""BAT tries the 129 thresholds 0, 1/128, …, 1."""


class Sweep(NamedTuple):
    """The search for an oracle threshold. The lowest threshold wins ties. Predictions without score always count."""

    grid: Literal["scores", "steps"]
    """The candidate thresholds: all scores in the data, or steps of 1/128."""
    is_strict: bool
    """Whether scores must exceed the threshold."""
    criterion: str
    """The measure to maximise."""
    needs_positive_type_scores: bool = False
    """Whether typing tasks without threshold drop predictions with score 0, as in older code of GERBIL."""

    @property
    def steps(self) -> int | None:
        """The number of equal steps between 0 and 1 to try; None if all scores in the data are tried."""
        return STEPS if self.grid == "steps" else None


SWEEPS: dict[str, Sweep] = {
    "oracle": Sweep("scores", False, "micro.f1"),
    "oracle-gerbil": Sweep("scores", True, "micro.f1", needs_positive_type_scores=True),
    "oracle-bat": Sweep("steps", False, "macro.f1"),
    "oracle-bat-paper": Sweep("steps", False, "micro.f1"),
}


class Threshold(NamedTuple):
    """A fixed score threshold."""

    min_score: float | None = None
    """The lowest score that counts; None for no threshold."""
    is_strict: bool = False
    """Whether scores must exceed `min_score`."""

    def __str__(self) -> str:
        return "none" if self.min_score is None else f"{'>' if self.is_strict else ''}{self.min_score!r}"


def parse_threshold(text: str) -> Threshold | Sweep:
    """Parse a value of the setting `threshold`: a number, `>NUMBER`, `none`, or the name of an oracle.

    ` tuned on …` after a number is ignored. Raise `KaratError` if `text` is none of these.
    """
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
        oracles = ", ".join(SWEEPS)
        raise KaratError(f"threshold {text!r} is not a threshold. Give a number, >NUMBER, none, or one of {oracles}.")
    return Threshold(value, match["strict"] == ">")
