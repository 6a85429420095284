"""Many tests at once: of the null hypotheses that are rejected, the share that is true stays below the level.

Benjamini and Hochberg, Controlling the False Discovery Rate, Journal of the Royal Statistical Society B 57(1), 1995.
"""

from __future__ import annotations

import numpy as np

from karat.model.tables.columns import Floats


def benjamini_hochberg(p: Floats) -> Floats:
    """Each p-value made larger by how many tests there are and how many are below it, in the same shape.

    Less strict than Holm's correction; it holds for tests that are independent or rise and fall together, as those of
    systems on the same documents mostly do. NaN is a test that was not made: it stays NaN and makes the others no
    larger.
    """
    flat = p.reshape(-1)
    made = np.flatnonzero(~np.isnan(flat))
    order = made[np.argsort(flat[made], kind="stable")]
    scaled = flat[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted = np.full(flat.shape, np.nan)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted.reshape(p.shape)
