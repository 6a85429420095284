"""Detection of the units in which a file counts offsets, by the surfaces it contains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karat.formats.parsing.surfaces.search import REALIGNED, Surface, is_same_surface, locate_surfaces
from karat.model.defects import get_defects
from karat.model.errors import InputError
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import encode_text, map_units
from karat.model.output.command_options import format_option
from karat.model.span import Span
from karat.model.tables.columns import Longs


def utf16_offset_table(text: str) -> Longs:
    """Return an array that has the code point offset at the index of each UTF-16 offset in `text`.

    An offset inside a surrogate pair maps to the start of the pair.
    """
    return _offset_table(text, OffsetKind.UTF16)


def byte_offset_table(text: str) -> Longs:
    """Return an array that has the code point offset at the index of each UTF-8 byte offset in `text`.

    An offset inside a character maps to the start of the character.
    """
    return _offset_table(text, OffsetKind.BYTES)


def _offset_table(text: str, kind: OffsetKind) -> Longs:
    """Return the code point offset for each offset of `kind` in a text, up to the end of the text."""
    units = map_units(encode_text(text), kind)
    return units.to_code_points(np.arange(int(units.to_units(np.array([len(text)]))[0]) + 1))


_MAX_OFFSET = 2**31 - 1
UNIT_NOTES = {
    OffsetKind.BYTES: "texts whose offsets count bytes",
    OffsetKind.UTF16: "texts whose offsets count UTF-16 units",
}
"""Description of the count of texts whose offsets were converted, by kind of offsets."""
SURFACE_MISMATCH = "mentions whose surface differs from the text at their offsets"


class RawSpan(NamedTuple):
    """A span in the units of a file (code points, bytes or UTF-16 units), with its surface."""

    start: int
    """First offset, in the units of the file."""
    end: int
    """Offset behind the last character, in the units of the file."""
    surface: str | None
    """Text of the mention, or None if the file has none."""
    location: str
    """File and line, for error messages."""


@dataclass(slots=True)
class SurfaceCheck:
    """Counts of surfaces of a file that equal or differ from its texts."""

    n_surfaces: int = 0
    """Number of surfaces compared."""
    n_mismatches: int = 0
    """Number of surfaces that differ from the text."""
    first_mismatch: tuple[RawSpan, str] | None = None
    """First differing span, with the text at its offsets."""

    def compare(self, text: str, spans: Sequence[tuple[int, int]], raw_spans: Sequence[RawSpan]) -> None:
        """Compare surfaces with the text at their spans, and update the counts; ignore case and kind of white space.

        `spans` are the spans in code points, in the order of `raw_spans`; a span without surface is ignored.
        """
        for (start, end), span in zip(spans, raw_spans, strict=True):
            if span.surface is not None:
                self.n_surfaces += 1
                at_offsets = text[start:end]
                if not _is_same_surface(at_offsets.casefold(), span.surface.casefold()):
                    self.n_mismatches += 1
                    self.first_mismatch = self.first_mismatch or (span, at_offsets)

    def require_matches(self) -> None:
        """Raise `InputError` if more than half of the surfaces differ: the offsets then belong to another text."""
        if self.first_mismatch is not None and 2 * self.n_mismatches > self.n_surfaces:
            span, at_offsets = self.first_mismatch
            count = f"{self.n_mismatches} of {self.n_surfaces}"
            raise InputError(
                span.location,
                actual=f"the surface {span.surface!r} where the text has {at_offsets!r}; {count} surfaces differ",
                expected="surfaces that equal the text at their offsets",
                remedy="Check that the offsets belong to this text, or move the spans with "
                f"{format_option('span_mismatch', 'realign')}",
            )


def to_code_points(
    text: str | None, spans: Sequence[RawSpan], skipped: Counter[str], surfaces: SurfaceCheck | None = None
) -> list[tuple[int, int]]:
    """Convert the spans of one text to code points; raise `InputError` for an empty span or one outside the text.

    Offsets count code points, unless surfaces differ from the text and fewer differ if offsets count bytes or UTF-16
    units. That unit then applies to all spans of the text. Texts with other units and spans with differing surfaces are
    kept and counted in `skipped`, and `surfaces` is updated. If the policy realigns spans, those with differing
    surfaces are moved. Without a text, spans are returned unchanged if start and end are ordered. If the policy names a
    kind of offsets, all spans are returned unchanged.
    """
    raw_spans = [(span.start, span.end) for span in spans]
    if get_defects().policy.offsets is not OffsetKind.CODE_POINTS:  # converted together with those of other formats
        return raw_spans
    best = raw_spans
    if text is not None:
        best = place_surfaces(text, find_best_spans(text, raw_spans, spans, skipped), spans, skipped, surfaces)
    limit = _MAX_OFFSET if text is None else len(text)
    for (start, end), span in zip(best, spans, strict=True):
        if not 0 <= start < end <= limit:
            size = "an unknown text" if text is None else f"a text of {len(text)} code points"
            raise InputError(
                span.location,
                actual=f"a mention from {span.start} to {span.end} in {size}",
                expected="0 <= start < end <= length of the text",
                remedy="Correct the offsets, or check that they belong to this text",
            )
    return best


def place_surfaces(
    text: str,
    code_points: list[tuple[int, int]],
    spans: Sequence[RawSpan],
    skipped: Counter[str],
    surfaces: SurfaceCheck | None = None,
    *,
    note: str = SURFACE_MISMATCH,
) -> list[tuple[int, int]]:
    """Return the spans `code_points`; if the policy realigns spans, those with differing surfaces are moved.

    `code_points` are the `spans` in code points. Surfaces that differ from the text are counted under `note` in
    `skipped`, and `surfaces` is updated.
    """
    policy = get_defects().policy
    if policy.offsets is not OffsetKind.CODE_POINTS:  # the spans are not in code points yet
        return code_points
    placed = _realign(text, code_points, spans, skipped) if policy.realign_spans else code_points
    skipped[note] += _count_mismatches(text, placed, spans)
    if surfaces is not None:
        surfaces.compare(text, placed, spans)
    return placed


def _realign(
    text: str, code_points: list[tuple[int, int]], spans: Sequence[RawSpan], skipped: Counter[str]
) -> list[tuple[int, int]]:
    """Return the spans, moved to the nearest occurrence of their surface where the text differs; count the moved ones.

    A span stays where it is if its surface has no occurrence.
    """
    is_wrong = [
        bool(span.surface and span.surface.strip()) and not is_same_surface(text[start:end], span.surface or "")
        for (start, end), span in zip(code_points, spans, strict=True)
    ]
    wanted = [
        (index, Surface(spans[index].surface or "", offset_hint=code_points[index][0]))
        for index, wrong in enumerate(is_wrong)
        if wrong
    ]
    if not wanted:
        return code_points
    correct = [Span(*pair) for pair, wrong in zip(code_points, is_wrong, strict=True) if not wrong]
    counts: Counter[str] = Counter()
    placed = list(code_points)
    for (index, _), span in zip(
        wanted, locate_surfaces(text, [surface for _, surface in wanted], counts, correct), strict=True
    ):
        placed[index] = code_points[index] if span is None else (span.start, span.end)
    skipped[REALIGNED] += counts[REALIGNED]
    get_defects().other_counts[REALIGNED] += counts[REALIGNED]
    return placed


def find_best_spans(
    text: str,
    raw_spans: list[tuple[int, int]],
    spans: Sequence[RawSpan],
    skipped: Counter[str],
    text_end: str | None = None,
) -> list[tuple[int, int]]:
    """Return the spans in the unit in which the fewest surfaces differ from the text.

    `raw_spans` are start and end of `spans`. Without surfaces, the stated end of the text (`text_end`) decides. Texts
    with other units than code points are counted in `skipped`. If the policy names a kind of offsets, all spans are
    returned unchanged.
    """
    best, best_kind = raw_spans, OffsetKind.CODE_POINTS
    misses = _count_mismatches(text, raw_spans, spans)
    has_other_end = text_end not in (None, str(len(text))) and all(span.surface is None for span in spans)
    if (misses or has_other_end) and not text.isascii() and get_defects().policy.offsets is OffsetKind.CODE_POINTS:
        for kind in UNIT_NOTES:
            offsets = _offset_table(text, kind)
            if has_other_end and text_end != str(len(offsets) - 1):
                continue
            converted = [(_convert_offset(offsets, start), _convert_offset(offsets, end)) for start, end in raw_spans]
            if has_other_end or _count_mismatches(text, converted, spans) < misses:
                best, best_kind, misses = converted, kind, _count_mismatches(text, converted, spans)
    if best_kind in UNIT_NOTES:
        skipped[UNIT_NOTES[best_kind]] += 1
    return best


def _convert_offset(offsets: Longs, offset: int) -> int:
    """Convert an offset in bytes or UTF-16 units to code points.

    `offsets`: table of the offset in code points for each offset in the other unit. An offset outside the text stays
    outside it.
    """
    return int(offsets[offset]) if 0 <= offset < len(offsets) else max(offset, len(offsets))


def _count_mismatches(text: str, spans: Sequence[tuple[int, int]], raw_spans: Sequence[RawSpan]) -> int:
    """Count the spans whose surface differs from the text in more than white space; `spans` are in code points."""
    return sum(
        not _is_same_surface(text[start:end], span.surface)
        for (start, end), span in zip(spans, raw_spans, strict=True)
        if span.surface is not None
    )


def list_surface_categories(text: str | None, start: int, end: int, span: RawSpan) -> tuple[str, ...]:
    """Return the category with the surface of a mention in the source if the text at its span differs, else none.

    `start` and `end` are the span in code points.
    """
    is_converted = get_defects().policy.offsets is OffsetKind.CODE_POINTS
    if text is None or span.surface is None or not is_converted or _is_same_surface(text[start:end], span.surface):
        return ()
    return (f"surface:{span.surface}",)


def _is_same_surface(text: str, surface: str) -> bool:
    """Return whether two surfaces are equal except for white space, which line-based formats cannot store."""
    return text == surface or text.split() == surface.split()
