"""Conversion of offsets of other kinds to code points."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.tables.columns import Bools, Longs

_LF, _CR = 10, 13
_FIRST_DECOMPOSABLE = 0xC0
_MAX_PAIR = 0x1D1FF  # no character after this one combines with another
_JAMO_VOWELS_AND_FINALS = range(0x1160, 0x1200)


class UnitMap(NamedTuple):
    """The characters of a text that do not count as one unit in a kind of offsets; texts may be concatenated."""

    positions: Longs
    """The sorted offsets of these characters, in code points."""
    first_units: Longs
    """The offset of each of them, in units."""
    surpluses: Longs
    """The units beyond one per character of the first n of them, for each n; one element longer than the others."""

    def to_units(self, offsets: Longs) -> Longs:
        """Convert offsets from code points to units."""
        return offsets + self.surpluses[np.searchsorted(self.positions, offsets)]

    def to_code_points(self, units: Longs) -> Longs:
        """Convert offsets from units to code points; an offset inside a character becomes the start of it."""
        if not len(self.positions):
            return units
        ends = self.first_units + 1 + np.diff(self.surpluses)
        n_passed = np.searchsorted(ends, units, "right")
        offsets = units - self.surpluses[n_passed]
        following = np.minimum(n_passed, len(ends) - 1)
        is_inside = (n_passed < len(ends)) & (units > self.first_units[following])
        return np.where(is_inside, self.positions[following], offsets)


def encode_text(text: str) -> NDArray[np.uint32]:
    """Return the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def map_units(codes: NDArray[np.unsignedinteger], kind: OffsetKind) -> UnitMap:
    """Return the characters of a text that do not count as one unit in offsets of `kind`; `codes` are its code points.

    Several texts may be concatenated, with a character between them that counts as one unit.
    """
    positions, widths = _find_wide_characters(codes, kind)
    surpluses = np.concatenate([np.zeros(1, np.int64), np.cumsum(widths - 1)])
    return UnitMap(positions, positions + surpluses[:-1], surpluses)


def to_code_points(text: str, kind: OffsetKind, start: Longs, end: Longs) -> tuple[Longs, Longs]:
    """Convert starts and ends of `kind` in a text to code points; offsets outside the text stay outside it."""
    units = map_units(encode_text(text), kind)
    start_shift, end_shift = kind.shift
    return units.to_code_points(start) + start_shift, units.to_code_points(end) + end_shift


def from_code_points(text: str, kind: OffsetKind, start: int, end: int) -> tuple[int, int]:
    """Convert a span in code points of a text to offsets of `kind`."""
    units = map_units(encode_text(text), kind)
    start_shift, end_shift = kind.shift
    first, last = units.to_units(np.array([start, end])).tolist()
    return first - start_shift, last - end_shift


def _find_wide_characters(codes: NDArray[np.unsignedinteger], kind: OffsetKind) -> tuple[Longs, Longs]:
    """Return the sorted positions and the widths in units of all characters that do not count as one unit."""
    if kind is OffsetKind.UTF16:
        positions = np.flatnonzero(codes > 0xFFFF)
        return positions, np.full(len(positions), 2)
    if kind is OffsetKind.BYTES:
        positions = np.flatnonzero(codes > 0x7F)
        wide = codes[positions]
        return positions, 2 + (wide > 0x7FF).astype(np.int64) + (wide > 0xFFFF)
    if kind in (OffsetKind.CRLF, OffsetKind.LF):
        line_ends = np.flatnonzero(codes == _LF)
        follows_cr = codes[np.maximum(line_ends - 1, 0)] == _CR
        positions = line_ends[~follows_cr if kind is OffsetKind.CRLF else follows_cr]
        return positions, np.full(len(positions), 2 if kind is OffsetKind.CRLF else 0)
    if kind is OffsetKind.NFD:
        positions = np.flatnonzero(codes >= _FIRST_DECOMPOSABLE)
        values, index = np.unique(codes[positions], return_inverse=True)
        lengths = np.array([len(unicodedata.normalize("NFD", chr(code))) for code in values.tolist()], np.int64)
        widths = lengths[index] if len(values) else np.zeros(0, np.int64)
        return positions[widths != 1], widths[widths != 1]
    if kind is OffsetKind.NFC:
        return _find_composable_characters(codes)
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def _find_composable_characters(codes: NDArray[np.unsignedinteger]) -> tuple[Longs, Longs]:
    """Return positions and widths of the characters that composition (NFC) shortens.

    The first character of a sequence gets the whole width, the others get 0.
    """
    continues = _mask_continuations()[np.minimum(codes.astype(np.uint32), _MAX_PAIR + 1)]
    continues[:1] = False
    continues[1:] &= codes[:-1] != _LF  # which may separate two texts
    firsts = np.flatnonzero(~continues)
    sizes = np.diff(np.append(firsts, len(codes)))
    positions: list[int] = []
    widths: list[int] = []
    is_relevant = (sizes > 1) | (codes[firsts] >= _FIRST_DECOMPOSABLE)
    lengths: dict[bytes, int] = {}
    for first, size in zip(firsts[is_relevant].tolist(), sizes[is_relevant].tolist(), strict=True):
        key = codes[first : first + size].tobytes()
        if key not in lengths:
            sequence = "".join(map(chr, codes[first : first + size].tolist()))
            lengths[key] = len(unicodedata.normalize("NFC", sequence))
        if size > 1 or lengths[key] != 1:
            positions += range(first, first + size)
            widths += [lengths[key]] + [0] * (size - 1)
    return np.array(positions, np.int64), np.array(widths, np.int64)


@cache
def _mask_continuations() -> Bools:
    """Return the mask of code points that may combine with the character before them; the last one is False."""
    mask = np.zeros(_MAX_PAIR + 2, np.bool_)
    mask[_JAMO_VOWELS_AND_FINALS.start : _JAMO_VOWELS_AND_FINALS.stop] = True
    for code in range(_FIRST_DECOMPOSABLE, _MAX_PAIR + 1):
        character = chr(code)
        mask[code] |= unicodedata.combining(character) > 0
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            mask[int(parts[1], 16)] = True
    return mask
