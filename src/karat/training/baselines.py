"""What needs no training: bounds and simple choices that trained models are held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from karat.linking.neural.models import MASKED
from karat.linking.neural.snippets import Snippets

Codes = NDArray[np.int64]


def most_frequent(train: Snippets, surfaces: Sequence[str], asked: Sequence[str]) -> Codes:
    """The entity that the words of a mention led to most often in the training part; -1 for words not seen there.

    Ties go to the entity that was met first.
    """
    counts: dict[str, Counter[int]] = {}
    for surface, gold in zip(surfaces, train.gold.tolist(), strict=True):
        if gold != MASKED:
            counts.setdefault(surface, Counter())[gold] += 1
    best = {surface: seen.most_common(1)[0][0] for surface, seen in counts.items()}
    return np.array([best.get(surface, MASKED) for surface in asked], np.int64)


def most_popular(train: Snippets, test: Snippets) -> Codes:
    """The candidate that most mentions of the training part are linked to, whatever their words.

    Ties go to the smallest code, for the order of candidates is another system's.
    """
    counts = Counter(train.gold.tolist())
    found = np.full(test.mentions, MASKED, np.int64)
    for mention, (low, high) in enumerate(_stretches(test)):
        listed = test.candidates[low:high].tolist()
        if listed:
            found[mention] = min(listed, key=lambda code: (-counts[code], code))
    return found


def listed_gold(test: Snippets) -> NDArray[np.bool_]:
    """Whether the gold entity of each mention is among its candidates."""
    return np.array(
        [test.gold[mention] in test.candidates[low:high] for mention, (low, high) in enumerate(_stretches(test))], bool
    )


def seen(train: Snippets, test: Snippets) -> NDArray[np.bool_]:
    """Whether the gold entity of each mention is one of the training part."""
    return np.isin(test.gold, train.gold[train.gold != MASKED])


def _stretches(snippets: Snippets) -> list[tuple[int, int]]:
    ends = snippets.candidate_ends.tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))
