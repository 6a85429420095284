"""Times that people take: pace in the last hours, and times that are too short to be true."""

from __future__ import annotations

from datetime import datetime
from typing import Final

WINDOWS: Final = {"last hour": 1, "last 24 hours": 24, "last 7 days": 168}
"""Periods for which the pace is shown, in hours, by title."""

PACE_HOURS: Final = 24
"""Hours whose pace predicts how long the rest takes."""

_SECONDS_PER_DECISION: Final = 1.0
_CHARACTERS_PER_SECOND: Final = 100.0  # people read English at about 24 of them (Brysbaert 2019)

TIME_RULE: Final = (
    "Too short to be true: less than 1 second per decision, plus 1 second for every 100 characters of text that the "
    "person had not seen before. That is four times as fast as people read."
)
"""The rule of `min_seconds` for readers."""


def min_seconds(n_decisions: int, n_characters: int) -> float:
    """Return the seconds that a number of decisions on a new text takes at least; times below cannot be true."""
    return n_decisions * _SECONDS_PER_DECISION + n_characters / _CHARACTERS_PER_SECOND


def elapsed_seconds(start: str, end: str) -> float | None:
    """Return the seconds between two times of the server in ISO 8601; None without two times in order."""
    first, last = parse_time(start), parse_time(end)
    return (last - first).total_seconds() if _BEGINNING < first <= last else None


def parse_time(text: str) -> datetime:
    """Parse a time of the server in ISO 8601; a damaged one is the beginning of time, so that it is in no period."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return _BEGINNING
    return time if time.tzinfo is not None else time.replace(tzinfo=_BEGINNING.tzinfo)


_BEGINNING: Final = datetime.fromisoformat("0001-01-01T00:00:00+00:00")


def hours_left(n_needed: int, n_recent: int) -> float | None:
    """Return the hours that the rest takes at the pace of the last `PACE_HOURS`; None if nothing was done in them."""
    if not n_needed:
        return 0.0
    return n_needed / (n_recent / PACE_HOURS) if n_recent else None
