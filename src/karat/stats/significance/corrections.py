"""Corrections for multiple tests: Holm for the family-wise error rate, Benjamini-Hochberg for the false discovery rate.

Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6(2), 1979.
Benjamini and Hochberg, Controlling the False Discovery Rate, Journal of the Royal Statistical Society B 57(1), 1995.
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


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Return p-values adjusted by the Benjamini-Hochberg method, in the shape of `p_values`.

    Less strict than Holm's method. Valid for independent or positively dependent tests, as of systems on the same
    documents. NaN marks a missing test, which stays NaN and does not count.
    """
    flat = p_values.reshape(-1)
    defined = np.flatnonzero(~np.isnan(flat))
    order = defined[np.argsort(flat[defined], kind="stable")]
    scaled = flat[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted = np.full(flat.shape, np.nan)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted.reshape(p_values.shape)
