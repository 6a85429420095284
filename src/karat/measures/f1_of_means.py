"""F1 of means: the harmonic mean of macro precision and macro recall."""

import numpy as np

from karat.model.result import Scored
from karat.model.statistics import ratio
from karat.model.tables.columns import Floats
from karat.spec.measure import Lookup, Measure, Moments


def _derive(view: Lookup) -> Scored:
    p, r = view.score("macro.p"), view.score("macro.r")
    if p.value is None or r.value is None:
        return Scored(None, 0, p.reason or r.reason)
    both = p.value + r.value
    return Scored(2 * p.value * r.value / both if both else 0.0, min(p.n, r.n))


def _of_means(p: Moments, r: Moments) -> Floats:
    both = p.mean + r.mean
    return np.where(both == 0, 0.0, ratio(2 * p.mean * r.mean, both))


MEASURE = Measure(
    title="F1 of means",
    formula="F1 = 2 · macro P · macro R / (macro P + macro R)",
    undefined="macro P or macro R is undefined",
    aggregates=("macro",),
    derive=_derive,
    means=("macro.p", "macro.r"),
    of_means=_of_means,
    note="The BAT paper defines macro F1 this way; most programs print the mean of F1, which is `macro.f1`.",
)
