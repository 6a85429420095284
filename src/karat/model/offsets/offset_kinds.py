"""Kinds of offsets that programs count."""

from __future__ import annotations

from enum import StrEnum

from karat.model.errors import UnknownNameError


class OffsetKind(StrEnum):
    """A way to count offsets: in characters, bytes or UTF-16 units, from 0 or 1, with exclusive or inclusive ends."""

    CODE_POINTS = "code-points"
    UTF16 = "utf16"
    BYTES = "bytes"
    INCLUSIVE = "inclusive"
    EXCLUSIVE = "exclusive"
    ONE_BASED = "one-based"
    ONE_BASED_INCLUSIVE = "one-based-inclusive"
    CRLF = "crlf"
    LF = "lf"
    NFD = "nfd"
    NFC = "nfc"

    @property
    def description(self) -> str:
        """Description of this kind of offsets, for messages."""
        return _DESCRIPTIONS[self]

    @property
    def shift(self) -> tuple[int, int]:
        """Numbers to add to starts and to ends of this kind, to get zero-based, exclusive offsets."""
        return _SHIFTS.get(self, (0, 0))

    def combine(self, kind: OffsetKind) -> OffsetKind | None:
        """Return the kind of offsets that are of `kind` after a conversion from this kind; None if there is none."""
        if self is OffsetKind.CODE_POINTS:
            return kind
        if self.shift == (0, 0) or kind.shift == (0, 0):
            return None
        shift = (self.shift[0] + kind.shift[0], self.shift[1] + kind.shift[1])
        return next((other for other in (OffsetKind.CODE_POINTS, *_SHIFTS) if other.shift == shift), None)

    @property
    def min_length(self) -> int:
        """The difference of end and start of the shortest mention, or 1 if conversion reports shorter ones."""
        start, end = self.shift
        return min(1, 1 + start - end)


_DESCRIPTIONS = {
    OffsetKind.CODE_POINTS: "code points",
    OffsetKind.UTF16: "UTF-16 units",
    OffsetKind.BYTES: "UTF-8 bytes",
    OffsetKind.CRLF: "code points with two for each line end (CRLF)",
    OffsetKind.LF: "code points with one for each line end (LF)",
    OffsetKind.NFD: "code points of the decomposed text (NFD)",
    OffsetKind.NFC: "code points of the composed text (NFC)",
    OffsetKind.INCLUSIVE: "code points with inclusive ends",
    OffsetKind.EXCLUSIVE: "code points with ends one too large (exclusive ends in a table read as neleval)",
    OffsetKind.ONE_BASED: "code points counted from 1",
    OffsetKind.ONE_BASED_INCLUSIVE: "code points counted from 1 with inclusive ends",
}
_SHIFTS = {
    OffsetKind.INCLUSIVE: (0, 1),
    OffsetKind.EXCLUSIVE: (0, -1),
    OffsetKind.ONE_BASED: (-1, -1),
    OffsetKind.ONE_BASED_INCLUSIVE: (-1, 0),
}


def parse_offset_kind(name: str) -> OffsetKind:
    """Return the kind of offsets with this name; raise `UnknownNameError` for other names."""
    try:
        return OffsetKind(name)
    except ValueError:
        raise UnknownNameError("kind of offsets", name, list(map(str, OffsetKind))) from None
