"""Holm's correction for multiple tests, which controls the family-wise error rate.

Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6(2), 1979.
"""

from __future__ import annotations

import numpy as np

from karat.model.tables.columns import Floats


def holm(p_values: Floats) -> Floats:
    """Return p-values adjusted by Holm's method, in the shape of `p_values`; valid under any dependence.

    NaN marks a missing test, which stays NaN and does not count.
    """
    flat = p_values.reshape(-1)
    defined = np.flatnonzero(~np.isnan(flat))
    order = defined[np.argsort(flat[defined], kind="stable")]
    n_remaining = len(order) - np.arange(len(order))  # hypotheses not yet rejected at each step
    adjusted = np.full(flat.shape, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(flat[order] * n_remaining), 1.0)
    return adjusted.reshape(p_values.shape)
