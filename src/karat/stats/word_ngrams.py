"""Hashes of word n-grams, for comparing texts without storing them."""

from __future__ import annotations

import re
import zlib

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


def split_words(text: str) -> list[str]:
    """Return the words of a text (letters, digits and underscores) in lower case, in order."""
    return [word.lower() for word in _WORD.findall(text)]


def hash_ngrams(words: list[str], length: int) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each n-gram of `length` words, in order; one hash of all words if there are fewer."""
    hashes = np.array([zlib.crc32(word.encode(errors="surrogatepass")) for word in words], np.uint64)
    ngrams = np.zeros(max(len(hashes) - length + 1, 1), np.uint64)
    for position in range(min(length, len(hashes))):
        ngrams = (ngrams + hashes[position : position + len(ngrams)] + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        ngrams ^= ngrams >> np.uint64(29)
    return ngrams
