"""Contrasts of each system with the mean of the others, averaged over strata such as datasets.

A stratum is an array of additive statistics: documents × systems × columns. A measure maps an array whose last axis is
the columns to an array without that axis, NaN if undefined. A stratum in which the measure is undefined for a system is
skipped for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from karat.model.tables.columns import Floats
from karat.stats.samples.bootstrap import has_shared_draws, resample_in_order, resample_totals

TotalsMeasure: TypeAlias = Callable[[Floats], Floats]
"""A function from totals (last axis: columns) to values, NaN if undefined."""


def subtract_mean_of_others(values: Floats) -> Floats:
    """Return each system's value (last axis) minus the mean of the others; NaN for a single system."""
    count = values.shape[-1]
    if count < 2:
        return np.full(values.shape, np.nan)
    total = values.sum(axis=-1, keepdims=True)
    differences: Floats = values - (total - values) / (count - 1)
    return differences


def mean_over_strata(values: Iterable[Floats]) -> Floats:
    """Return the mean over strata of values with systems on the last axis; NaN if no stratum is complete.

    A stratum counts where all systems have a value.
    """
    total: Floats = np.zeros(1)
    strata: Floats = np.zeros(1)
    for stratum in values:
        defined = ~np.isnan(stratum).any(axis=-1, keepdims=True)
        total, strata = total + np.where(defined, stratum, 0.0), strata + defined
    with np.errstate(invalid="ignore"):
        mean: Floats = total / strata
    return mean


def mean_differences(totals: Iterable[Floats], measure: TotalsMeasure) -> Floats:
    """Return the mean over strata of each system's measure minus the mean of the other systems' measures.

    `totals` has for each stratum an array whose last axes are systems and columns.
    """
    return mean_over_strata(subtract_mean_of_others(measure(stratum)) for stratum in totals)


def resample_stratum(stratum: Floats, resamples: int, seed: int) -> Floats:
    """Return the totals over resampled documents of a stratum (documents × systems × columns).

    The result has the shape resamples × systems × columns.

    All systems share the drawn documents.
    """
    resample = resample_in_order if has_shared_draws(len(stratum)) else resample_totals
    totals = resample(stratum.reshape(len(stratum), -1), resamples, seed)
    return totals.reshape(resamples, *stratum.shape[1:])
