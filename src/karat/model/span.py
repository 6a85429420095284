"""Half-open spans in code points."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A half-open span: `text[start:end]` in code points."""

    start: int
    """The offset of the first code point."""
    end: int
    """The offset after the last code point."""
