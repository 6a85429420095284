"""Spans widened to whole words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.model.tables.columns import Bools, Ints, Longs

_QUOTE = ord('"')
_JOINING = "'\"_"
_ASCII = np.array([chr(point).isalnum() or chr(point) in _JOINING for point in range(128)])


def widened(texts: Sequence[str], text: NDArray[Any], start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Each span with the rest of the words it cuts; `text` says in which of the texts it stands.

    As ELEVANT does it, the last character of a text is never taken in, and a double quote that opens the span and is
    not closed in it is left out.
    """
    begins = np.concatenate([[0], np.cumsum([len(each) for each in texts])])
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    gaps = np.concatenate([[-1], np.flatnonzero(~_of_words(points)), [len(points)]])
    first, last = begins[text], begins[text + 1]
    low, high = first + start, first + end
    low = np.maximum(gaps[np.searchsorted(gaps, low) - 1] + 1, first)
    high = np.maximum(high, np.minimum(gaps[np.searchsorted(gaps, high)], last - 1))
    low = _without_open_quote(points, low, high)
    return (low - first).astype(np.int32), (high - first).astype(np.int32)


def _of_words(points: NDArray[np.uint32]) -> Bools:
    """Which code points belong to words."""
    plain = points < len(_ASCII)
    word: Bools = _ASCII[np.where(plain, points, 0)]
    others, inverse = np.unique(points[~plain], return_inverse=True)
    word[~plain] = np.array([chr(point).isalnum() for point in others.tolist()], np.bool_)[inverse]
    return word


def _without_open_quote(points: NDArray[np.uint32], low: Longs, high: Longs) -> Longs:
    quotes = np.append(np.flatnonzero(points == _QUOTE), len(points))
    place = np.searchsorted(quotes, low)
    opens = quotes[place] == low
    alone = quotes[np.minimum(place + 1, len(quotes) - 1)] >= high
    moved: Longs = low + (opens & alone & (low < len(points)))
    return moved
