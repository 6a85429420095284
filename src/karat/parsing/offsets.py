"""Offsets as files count them, in code points as Karat does."""

from __future__ import annotations

import numpy as np

from karat.model.tables.columns import Longs


def from_utf16(text: str) -> Longs:
    """For every offset in UTF-16 units the offset in code points; an offset inside a pair is that of the pair."""
    widths = np.array([2 if ord(c) > 0xFFFF else 1 for c in text], np.int64)
    return _by_width(widths)


def from_bytes(text: str) -> Longs:
    """For every offset in UTF-8 bytes the offset in code points; an offset inside a character is that of it."""
    widths = np.array([len(c.encode()) for c in text], np.int64)
    return _by_width(widths)


def _by_width(widths: Longs) -> Longs:
    return np.append(np.repeat(np.arange(len(widths)), widths), len(widths))
