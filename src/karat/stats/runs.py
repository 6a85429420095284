"""Runs of words as numbers, by which texts are compared without keeping them."""

from __future__ import annotations

import re
import zlib

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """The words of a text in small letters."""
    return [word.lower() for word in _WORD.findall(text)]


def run_hashes(words: list[str], length: int) -> NDArray[np.uint64]:
    """A number for each run of so many words, from its beginning on; one for all words where there are fewer."""
    hashes = np.array([zlib.crc32(word.encode(errors="surrogatepass")) for word in words], np.uint64)
    runs = np.zeros(max(len(hashes) - length + 1, 1), np.uint64)
    for place in range(min(length, len(hashes))):
        runs = (runs + hashes[place : place + len(runs)] + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        runs ^= runs >> np.uint64(29)
    return runs
