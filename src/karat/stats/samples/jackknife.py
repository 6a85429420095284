"""Intervals of scores that are no function of sums over documents, by computing them anew without some documents.

Drawing documents with replacement would not do: clusters reach across documents, and the copies of a document that is
drawn twice always go together, which makes every clustering look better than it is (simulated, the 95 % interval of
MUC covers 1 %, that of the jackknife 95 %). Leaving documents out makes no copies. Kott, The Delete-a-Group Jackknife,
Journal of Official Statistics 17(4), 2001.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from karat.errors import UsageError
from karat.model.tables.columns import Floats, Longs
from karat.stats.samples.bootstrap import Interval, checked_level
from karat.stats.samples.student import t_quantile


def groups(documents: int, number: int, seed: int) -> Longs:
    """The group of each document: so many groups, of equal size but for one, by chance; no more than documents.

    The same documents in the same order give the same groups: order them by their ids first.
    """
    if number < 2:
        raise UsageError(f"documents are left out in {number} groups. Give a number of at least 2.")
    places = np.random.default_rng(seed).permutation(documents)
    return places % max(1, min(number, documents))


def jackknife_interval(point: float, without: Floats, level: float = 0.95) -> Interval | None:
    """The score plus and minus t standard errors; `without` has the score without each group.

    None where less than two of them, or the score itself, have a value.
    """
    checked_level(level)
    defined = without[~np.isnan(without)]
    if len(defined) < 2 or np.isnan(point):
        return None
    times = len(defined) - 1
    error = sqrt(times / len(defined) * float(((defined - defined.mean()) ** 2).sum()))
    half = t_quantile((1 + level) / 2, times) * error
    return Interval(point - half, point + half)
