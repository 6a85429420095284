"""Expansion of spans to whole words, as in ELEVANT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.model.tables.columns import Bools, Ints, Longs

_TEXTS_PER_CHUNK = 5_000
_QUOTE = ord('"')
_WORD_MARKS = "'\"_"
_IS_ASCII_WORD = np.array([chr(point).isalnum() or chr(point) in _WORD_MARKS for point in range(128)])


class WordGaps(NamedTuple):
    """Positions outside words and of quotes in texts that are joined one after the other."""

    begins: Longs
    """Offset of each text in the joined texts, and the total length."""
    gaps: Longs
    """Offsets of the characters outside words, with -1 before the first and the total length after the last."""
    quotes: Longs
    """Offsets of the double quotes, with the total length after the last."""


def find_word_gaps(texts: Sequence[str]) -> WordGaps:
    """Find the characters outside words and the double quotes in `texts`.

    Words consist of letters, digits, quotes, apostrophes and underscores. Texts are read in chunks to save memory.
    """
    begins = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    gaps, quotes = [np.full(1, -1)], list[Longs]()
    for low in range(0, len(texts), _TEXTS_PER_CHUNK):
        points = np.frombuffer(
            "".join(texts[low : low + _TEXTS_PER_CHUNK]).encode("utf-32-le", "surrogatepass"), np.uint32
        )
        gaps.append(begins[low] + np.flatnonzero(~_mask_word_characters(points)))
        quotes.append(begins[low] + np.flatnonzero(points == _QUOTE))
    return WordGaps(begins, np.concatenate([*gaps, begins[-1:]]), np.concatenate([*quotes, begins[-1:]]))


def expand_to_words(words: WordGaps, text: NDArray[Any], start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Expand each span to the words that it cuts; return starts and ends. `text` is the index of each span's text.

    As in ELEVANT, a span never grows over the last character of a text, and a double quote that opens the span but is
    not closed in it is dropped.
    """
    begins, gaps, _ = words
    first, last = begins[text], begins[text + 1]
    low, high = first + start, first + end
    low = np.maximum(gaps[np.searchsorted(gaps, low) - 1] + 1, first)
    high = np.maximum(high, np.minimum(gaps[np.searchsorted(gaps, high)], last - 1))
    low = _drop_open_quote(words, low, high)
    return (low - first).astype(np.int32), (high - first).astype(np.int32)


def _mask_word_characters(points: NDArray[np.uint32]) -> Bools:
    """Return the mask of code points that belong to words."""
    is_ascii = points < len(_IS_ASCII_WORD)
    word: Bools = _IS_ASCII_WORD[np.where(is_ascii, points, 0)]
    others, inverse = np.unique(points[~is_ascii], return_inverse=True)
    word[~is_ascii] = np.array([chr(point).isalnum() for point in others.tolist()], np.bool_)[inverse]
    return word


def _drop_open_quote(words: WordGaps, low: Longs, high: Longs) -> Longs:
    """Return the starts `low` of spans, moved past a double quote there that is not closed before `high`."""
    quotes = words.quotes
    index = np.searchsorted(quotes, low)
    is_quote = quotes[index] == low
    is_unclosed = quotes[np.minimum(index + 1, len(quotes) - 1)] >= high
    moved: Longs = low + (is_quote & is_unclosed & (low < words.begins[-1]))
    return moved
