"""A half-open interval of code points."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """`text[start:end]`: counted in code points, `end` not included."""

    start: int
    end: int

    def overlap(self, other: Span) -> int:
        """How many code points both cover; adjacent spans share none."""
        return max(0, min(self.end, other.end) - max(self.start, other.start))

    def inside(self, other: Span) -> bool:
        """Whether this span lies wholly within the other."""
        return other.start <= self.start and self.end <= other.end
