"""No two documents are nearly the same.

MinHash: of all runs of three words, the smallest under each of many hash functions; the share of functions under which
two documents agree estimates the share of runs that they have in common. Documents are compared where a band of
functions agrees, and only with a few of each band, so that the time grows with the text and not with its square.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule
from karat.stats.runs import run_hashes, words_of

_RUN = 3
_BANDS, _ROWS = 24, 4  # documents with 80 % in common meet in some band all but once in a million
_ALIKE = 0.8
_COMPARED = 8
_DRAWN = np.random.Generator(np.random.PCG64(0)).integers(1, 2**63, (2, _BANDS * _ROWS), np.uint64)
_FACTORS, _SHIFTS = _DRAWN[0] | np.uint64(1), _DRAWN[1]
_BLOCK = 1 << 13


class _Sketch(NamedTuple):
    """A document by its smallest hashes."""

    id: str
    smallest: NDArray[np.uint64]


def _corpus_find(documents: Sequence[Document], context: Context) -> Iterator[Finding]:
    bands: dict[tuple[int, bytes], list[_Sketch]] = defaultdict(list)
    for document in sorted(documents, key=lambda document: (document.id, document.text)):
        words = words_of(document.text)
        if not words:
            continue
        sketch = _Sketch(document.id, _smallest(words))
        keys = [(band, part.tobytes()) for band, part in enumerate(sketch.smallest.reshape(_BANDS, _ROWS))]
        alike, other = max(
            ((float(np.mean(sketch.smallest == met.smallest)), met) for key in keys for met in bands[key]),
            key=lambda pair: pair[0],
            default=(0.0, sketch),
        )
        if alike >= _ALIKE:
            says = f"shares about {alike:.0%} of its runs of {_RUN} words with document {other.id!r}"
            yield Finding(document.id, says, proposal="Keep one of the two, or put both into one split")
        else:
            for key in keys:
                if len(bands[key]) < _COMPARED:
                    bands[key].append(sketch)


def _smallest(words: list[str]) -> NDArray[np.uint64]:
    """The smallest hash of all runs of words under each hash function."""
    runs = run_hashes(words, _RUN)
    smallest = np.full(_BANDS * _ROWS, np.iinfo(np.uint64).max, np.uint64)
    for first in range(0, len(runs), _BLOCK):  # in blocks, so that a long text takes no more memory than a short one
        mixed = runs[first : first + _BLOCK, None] * _FACTORS + _SHIFTS
        mixed ^= mixed >> np.uint64(32)
        smallest = np.minimum(smallest, mixed.min(axis=0))
    return smallest


RULE = Rule(
    title="Near-duplicate documents",
    says="No two documents share 80 % of their runs of three words (estimated by MinHash).",
    severity="hint",
    corpus_find=_corpus_find,
    gold=True,
)
