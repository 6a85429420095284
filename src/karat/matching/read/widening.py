"""Spans widened to whole words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.model.tables.columns import Bools, Ints, Longs

_AT_ONCE = 5_000
_QUOTE = ord('"')
_JOINING = "'\"_"
_ASCII = np.array([chr(point).isalnum() or chr(point) in _JOINING for point in range(128)])


class WordGaps(NamedTuple):
    """Where each of some texts begins if they are written one behind the other, and where no word and a quote stand.

    The last of `begins` is the end of all; `gaps` are bounded by the places before the first and behind the last
    character, and so is `quotes` at its end.
    """

    begins: Longs
    gaps: Longs
    quotes: Longs


def words_of(texts: Sequence[str]) -> WordGaps:
    """The words of some texts; some texts at a time, since a character takes four bytes on the way."""
    begins = np.concatenate([[0], np.cumsum([len(each) for each in texts], dtype=np.int64)])
    gaps, quotes = [np.full(1, -1)], list[Longs]()
    for low in range(0, len(texts), _AT_ONCE):
        points = np.frombuffer("".join(texts[low : low + _AT_ONCE]).encode("utf-32-le", "surrogatepass"), np.uint32)
        gaps.append(begins[low] + np.flatnonzero(~_of_words(points)))
        quotes.append(begins[low] + np.flatnonzero(points == _QUOTE))
    return WordGaps(begins, np.concatenate([*gaps, begins[-1:]]), np.concatenate([*quotes, begins[-1:]]))


def widened(words: WordGaps, text: NDArray[Any], start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Each span with the rest of the words it cuts; `text` says in which of the texts it stands.

    As ELEVANT does it, the last character of a text is never taken in, and a double quote that opens the span and is
    not closed in it is left out.
    """
    begins, gaps, _ = words
    first, last = begins[text], begins[text + 1]
    low, high = first + start, first + end
    low = np.maximum(gaps[np.searchsorted(gaps, low) - 1] + 1, first)
    high = np.maximum(high, np.minimum(gaps[np.searchsorted(gaps, high)], last - 1))
    low = _without_open_quote(words, low, high)
    return (low - first).astype(np.int32), (high - first).astype(np.int32)


def _of_words(points: NDArray[np.uint32]) -> Bools:
    """Which code points belong to words."""
    plain = points < len(_ASCII)
    word: Bools = _ASCII[np.where(plain, points, 0)]
    others, inverse = np.unique(points[~plain], return_inverse=True)
    word[~plain] = np.array([chr(point).isalnum() for point in others.tolist()], np.bool_)[inverse]
    return word


def _without_open_quote(words: WordGaps, low: Longs, high: Longs) -> Longs:
    quotes = words.quotes
    place = np.searchsorted(quotes, low)
    opens = quotes[place] == low
    alone = quotes[np.minimum(place + 1, len(quotes) - 1)] >= high
    moved: Longs = low + (opens & alone & (low < words.begins[-1]))
    return moved
