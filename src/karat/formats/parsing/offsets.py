"""Conversion of offsets in UTF-16 units or bytes to code points."""

from __future__ import annotations

import numpy as np

from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import encode_text, map_units
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
