"""Many tests at once: the chance that any true null hypothesis among them is rejected stays below the level.

Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6(2), 1979.
"""

from __future__ import annotations

import numpy as np

from karat.model.tables.columns import Floats


def holm(p: Floats) -> Floats:
    """Each p-value made larger by how many tests there are, in the same shape; whatever they depend on each other.

    NaN is a test that was not made: it stays NaN and makes the others no larger.
    """
    flat = p.reshape(-1)
    made = np.flatnonzero(~np.isnan(flat))
    order = made[np.argsort(flat[made], kind="stable")]
    left = len(order) - np.arange(len(order))  # how many hypotheses still stand when it is this one's turn
    adjusted = np.full(flat.shape, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(flat[order] * left), 1.0)
    return adjusted.reshape(p.shape)
