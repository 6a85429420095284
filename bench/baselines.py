"""Baselines and bounds that need no training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from karat.systems.linking.neural.models import UNKNOWN_ENTITY
from karat.systems.linking.neural.snippets import Snippets

Codes = NDArray[np.int64]


def predict_most_frequent(train: Snippets, surfaces: Sequence[str], test_surfaces: Sequence[str]) -> Codes:
    """Return the code of the entity that each test surface is most often linked to in the training data.

    -1 if the surface is unseen there.
    `surfaces`, `test_surfaces`: surfaces of the mentions of the training and test data, in order.
    The first entity wins ties.
    """
    counts: dict[str, Counter[int]] = {}
    for surface, gold in zip(surfaces, train.gold.tolist(), strict=True):
        if gold != UNKNOWN_ENTITY:
            counts.setdefault(surface, Counter())[gold] += 1
    best = {surface: entity_counts.most_common(1)[0][0] for surface, entity_counts in counts.items()}
    return np.array([best.get(surface, UNKNOWN_ENTITY) for surface in test_surfaces], np.int64)


def predict_most_popular(train: Snippets, test: Snippets) -> Codes:
    """Return the candidate of each test mention that is most frequent as gold entity in the training data, as a code.

    -1 if the mention has no candidates. The smallest code wins ties, because the order of the candidates is a decision
    of another system.
    """
    counts = Counter(train.gold.tolist())
    result = np.full(test.n_mentions, UNKNOWN_ENTITY, np.int64)
    for mention, (low, high) in enumerate(_candidate_ranges(test)):
        candidates = test.candidates[low:high].tolist()
        if candidates:
            result[mention] = min(candidates, key=lambda code: (-counts[code], code))
    return result


def gold_candidate_mask(test: Snippets) -> NDArray[np.bool_]:
    """Return a mask of the mentions whose gold entity is among their candidates."""
    return np.array(
        [
            test.gold[mention] in test.candidates[low:high]
            for mention, (low, high) in enumerate(_candidate_ranges(test))
        ],
        bool,
    )


def seen_entity_mask(train: Snippets, test: Snippets) -> NDArray[np.bool_]:
    """Return a mask of the test mentions whose gold entity is a gold entity in the training data."""
    return np.isin(test.gold, train.gold[train.gold != UNKNOWN_ENTITY])


def _candidate_ranges(snippets: Snippets) -> list[tuple[int, int]]:
    """Return the start and end of each mention's candidates in `snippets.candidates`."""
    ends = snippets.candidate_ends.tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))
