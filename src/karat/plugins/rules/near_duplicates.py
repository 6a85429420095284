"""No two documents are nearly equal.

MinHash: each document is represented by the smallest hash of its word trigrams under each of many hash functions. The
share of functions on which two documents agree estimates the share of trigrams that they have in common. Documents are
compared if a band of functions agrees, and only with a few documents per band, so the time is linear in the text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule
from karat.stats.word_ngrams import hash_ngrams, split_words

_NGRAM = 3
_BANDS, _ROWS = 24, 4  # documents with 80 % in common share a band, except once in a million
_MIN_SIMILARITY = 0.8
_MAX_COMPARED = 8
_RANDOM_NUMBERS = np.random.Generator(np.random.PCG64(0)).integers(1, 2**63, (2, _BANDS * _ROWS), np.uint64)
_FACTORS, _SHIFTS = _RANDOM_NUMBERS[0] | np.uint64(1), _RANDOM_NUMBERS[1]
_BLOCK = 1 << 13


class _Sketch(NamedTuple):
    """A document, represented by its smallest hashes."""

    id: str
    hashes: NDArray[np.uint64]


def _find_in_corpus(documents: Sequence[Document], context: LintContext) -> Iterator[Finding]:
    """Report documents that share at least 80 % of their word trigrams with an earlier document by id (estimated)."""
    bands: dict[tuple[int, bytes], list[_Sketch]] = defaultdict(list)
    for document in sorted(documents, key=lambda document: (document.id, document.text)):
        words = split_words(document.text)
        if not words:
            continue
        sketch = _Sketch(document.id, _compute_min_hashes(words))
        keys = [(band, part.tobytes()) for band, part in enumerate(sketch.hashes.reshape(_BANDS, _ROWS))]
        similarity, other = max(
            (
                (float(np.mean(sketch.hashes == candidate.hashes)), candidate)
                for key in keys
                for candidate in bands[key]
            ),
            key=lambda pair: pair[0],
            default=(0.0, sketch),
        )
        if similarity >= _MIN_SIMILARITY:
            description = f"shares about {similarity:.0%} of its {_NGRAM}-grams of words with document {other.id!r}"
            yield Finding(document.id, description, proposal="Keep one of the two, or put both into one split")
        else:
            for key in keys:
                if len(bands[key]) < _MAX_COMPARED:
                    bands[key].append(sketch)


def _compute_min_hashes(words: list[str]) -> NDArray[np.uint64]:
    """Return the MinHash sketch of a text: the smallest hash of its word trigrams under each hash function."""
    hashes = hash_ngrams(words, _NGRAM)
    smallest = np.full(_BANDS * _ROWS, np.iinfo(np.uint64).max, np.uint64)
    for start in range(0, len(hashes), _BLOCK):  # in blocks, to limit the memory for long texts
        mixed = hashes[start : start + _BLOCK, None] * _FACTORS + _SHIFTS
        mixed ^= mixed >> np.uint64(32)
        smallest = np.minimum(smallest, mixed.min(axis=0))
    return smallest


RULE = Rule(
    title="Near-duplicate documents",
    description="No two documents share 80 % of their word trigrams (estimated by MinHash).",
    severity="hint",
    find_in_corpus=_find_in_corpus,
    is_gold_only=True,
)
