"""In which units a file counts offsets, told by the surfaces it gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.errors import InputError
from karat.model.tables.columns import Longs
from karat.parsing.offsets import from_bytes, from_utf16

_UNITS: tuple[tuple[str, Callable[[str], Longs]], ...] = (("bytes", from_bytes), ("UTF-16 units", from_utf16))
_MOST = 2**31 - 1
DIFFERS = "mentions whose surface differs from the text at their offsets"


class Placed(NamedTuple):
    """A span as a file counts it, the surface it gives or None, and where it says so."""

    start: int
    end: int
    surface: str | None
    where: str


@dataclass(slots=True)
class SurfaceCheck:
    """How many surfaces of a file were compared, how many are other words, and the first of these."""

    given: int = 0
    others: int = 0
    first: tuple[Placed, str] | None = None

    def compare(self, text: str, spans: Sequence[tuple[int, int]], given: Sequence[Placed]) -> None:
        """Look at the surfaces of one text; capitals are no other words."""
        for (start, end), span in zip(spans, given, strict=True):
            if span.surface is not None:
                self.given += 1
                found = text[start:end]
                if not _alike(found.casefold(), span.surface.casefold()):
                    self.others += 1
                    self.first = self.first or (span, found)

    def refuse_others(self) -> None:
        """Where most surfaces are other words than the text's, the offsets were made for another text."""
        if self.first is not None and 2 * self.others > self.given:
            span, found = self.first
            count = f"{self.others} of {self.given}"
            raise InputError(
                span.where,
                found=f"the surface {span.surface!r} where the text has {found!r}, and {count} so",
                expected="surfaces that stand at their offsets, but for a few",
                remedy="Check that the text is the one the offsets were made for",
            )


def in_code_points(
    text: str | None, spans: Sequence[Placed], skipped: Counter[str], surfaces: SurfaceCheck | None = None
) -> list[tuple[int, int]]:
    """The spans in code points; without a text they are only looked at for their order.

    They are taken as they are, unless surfaces differ from the text and agree with it more often if offsets are
    counted in bytes or UTF-16 units; then all of the text are counted so.
    """
    plain = [(span.start, span.end) for span in spans]
    best = plain if text is None else _best(text, plain, spans, skipped)
    limit = _MOST if text is None else len(text)
    for (start, end), span in zip(best, spans, strict=True):
        if not 0 <= start < end <= limit:
            size = "an unknown text" if text is None else f"a text of {len(text)} code points"
            raise InputError(
                span.where,
                found=f"a mention from {span.start} to {span.end} in {size}",
                expected="0 <= start < end, and an end inside the text",
                remedy="Correct the offsets, or check that the text is the one they were made for",
            )
    if surfaces is not None and text is not None:
        surfaces.compare(text, best, spans)
    return best


def _best(
    text: str, plain: list[tuple[int, int]], spans: Sequence[Placed], skipped: Counter[str]
) -> list[tuple[int, int]]:
    """The spans in the units in which the fewest surfaces differ from the text."""
    best, unit = plain, ""
    misses = _misses(text, plain, spans)
    if misses and not text.isascii():
        for name, table in _UNITS:
            places = table(text)
            moved = [(_at(places, start), _at(places, end)) for start, end in plain]
            if _misses(text, moved, spans) < misses:
                best, unit, misses = moved, name, _misses(text, moved, spans)
    skipped[f"texts whose offsets count {unit}"] += bool(unit)
    skipped[DIFFERS] += misses
    return best


def _at(places: Longs, offset: int) -> int:
    """An offset in code points; what lies outside the text stays outside."""
    return int(places[offset]) if 0 <= offset < len(places) else max(offset, len(places))


def _misses(text: str, spans: Sequence[tuple[int, int]], given: Sequence[Placed]) -> int:
    return sum(
        not _alike(text[start:end], span.surface)
        for (start, end), span in zip(spans, given, strict=True)
        if span.surface is not None
    )


def _alike(found: str, given: str) -> bool:
    """Whether two surfaces are the same but for white space, which formats of lines cannot keep."""
    return found == given or found.split() == given.split()
