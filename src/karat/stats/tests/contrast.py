"""Each system against the mean of the others, over strata that count alike, such as benchmarks.

A stratum is an array of statistics that add: documents × systems × columns. A measure makes one number from totals: it
takes an array whose last axis are the columns and gives one without that axis, NaN where it is not defined. A stratum
in which the measure is not defined for one of the systems says nothing about any: it is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from karat.model.tables.columns import Floats
from karat.stats.samples.bootstrap import resampled_totals

Measure: TypeAlias = Callable[[Floats], Floats]


def against_others(values: Floats) -> Floats:
    """The value of each system, along the last axis, minus the mean of the others'; NaN for a system alone."""
    count = values.shape[-1]
    if count < 2:
        return np.full(values.shape, np.nan)
    total = values.sum(axis=-1, keepdims=True)
    differences: Floats = values - (total - values) / (count - 1)
    return differences


def mean_of_strata(values: Iterable[Floats]) -> Floats:
    """The mean over strata of values with systems along the last axis, each stratum where all systems have one.

    NaN where no stratum has.
    """
    total: Floats = np.zeros(1)
    strata: Floats = np.zeros(1)
    for each in values:
        defined = ~np.isnan(each).any(axis=-1, keepdims=True)
        total, strata = total + np.where(defined, each, 0.0), strata + defined
    with np.errstate(invalid="ignore"):
        mean: Floats = total / strata
    return mean


def differences(totals: Iterable[Floats], measure: Measure) -> Floats:
    """The mean over strata of each system's measure minus the mean of the others'.

    `totals` has for each stratum an array of any shape whose last axes are systems and columns.
    """
    return mean_of_strata(against_others(measure(each)) for each in totals)


def resampled(stratum: Floats, resamples: int, seed: int) -> Floats:
    """Totals of documents drawn anew within a stratum, as many as it has: resamples × systems × columns.

    In every resample the documents are the same for all systems, so that differences keep what systems have in common.
    """
    totals = resampled_totals(stratum.reshape(len(stratum), -1), resamples, seed)
    return totals.reshape(resamples, *stratum.shape[1:])
