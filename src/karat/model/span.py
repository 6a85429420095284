"""A half-open interval of code points."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """`text[start:end]`: counted in code points, `end` not included."""

    start: int
    end: int
