"""Near-duplicate texts: pairs of texts that share most of their word n-grams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.stats.word_ngrams import hash_ngrams, split_words

RUN_LENGTH: Final = 5
"""Words in a run: short enough for a tweet, and longer than what unrelated texts share."""

MIN_SHARED: Final = 0.8
"""Texts are near-duplicates if the shorter one shares at least this fraction of its runs with the longer one."""

MIN_RUNS: Final = 4
"""Runs that a text must have to be compared; with fewer runs any two texts look alike."""


class SimilarText(NamedTuple):
    """A text of an index that is a near-duplicate of another text."""

    position: int
    """Position of the text in the index."""
    shared: float
    """Fraction of the runs of the shorter text that both share."""


class TextIndex:
    """Hashes of the word n-grams (runs) of texts, in which near-duplicates are found."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._runs_by_text = [_hash_runs(text) for text in texts]
        self._sizes = np.array(list(map(len, self._runs_by_text)), np.int64)
        owner = np.repeat(np.arange(len(texts)), self._sizes)
        runs: NDArray[np.uint64] = np.concatenate(self._runs_by_text) if texts else np.zeros(0, np.uint64)
        order = np.argsort(runs, kind="stable")
        self._runs, self._owner = runs[order], owner[order]
        self.is_short: NDArray[np.bool_] = self._sizes < MIN_RUNS
        """For each text, whether it has too few words to compare."""

    def find_similar(self, text: str) -> Iterator[SimilarText]:
        """Yield the texts of the index that are near-duplicates of `text`, in their order."""
        return self._find_similar(_hash_runs(text))

    def find_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield each pair of texts of the index that are near-duplicates of each other, the earlier text first."""
        for number, runs in enumerate(self._runs_by_text):
            for similar in self._find_similar(runs):
                if similar.position > number:
                    yield number, similar.position

    def _find_similar(self, runs: NDArray[np.uint64]) -> Iterator[SimilarText]:
        """Yield the texts of the index that are near-duplicates of a text with these distinct runs."""
        if len(runs) < MIN_RUNS or not len(self._runs):
            return
        low, high = np.searchsorted(self._runs, runs, "left"), np.searchsorted(self._runs, runs, "right")
        hits = np.flatnonzero(high > low)
        if len(hits) < MIN_RUNS:
            return
        positions = np.concatenate([np.arange(low[hit], high[hit]) for hit in hits])
        texts, shared = np.unique(self._owner[positions], return_counts=True)
        for index, common in zip(texts.tolist(), shared.tolist(), strict=True):
            size = int(self._sizes[index])
            share = common / min(size, len(runs))
            if size >= MIN_RUNS and share >= MIN_SHARED:
                yield SimilarText(index, share)


def _hash_runs(text: str) -> NDArray[np.uint64]:
    """Return the hashes of the distinct runs of a text."""
    return np.unique(hash_ngrams(split_words(text), RUN_LENGTH))
