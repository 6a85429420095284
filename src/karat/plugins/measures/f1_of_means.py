"""F1 of means: the harmonic mean of macro precision and macro recall."""

import numpy as np

from karat.model.results.result import Score
from karat.model.results.statistics import ratio
from karat.model.spec.measure import Measure, MeasureLookup, Moments
from karat.model.tables.columns import Floats


def _derive_score(view: MeasureLookup) -> Score:
    """Return the harmonic mean of macro precision and macro recall; undefined if either is."""
    p, r = view.score("macro.p"), view.score("macro.r")
    if p.value is None or r.value is None:
        return Score(None, 0, p.reason or r.reason)
    total = p.value + r.value
    return Score(2 * p.value * r.value / total if total else 0.0, min(p.n, r.n))


def _harmonic_mean(p: Moments, r: Moments) -> Floats:
    """Return the harmonic mean of macro precision and macro recall in each resample; 0 if both are 0."""
    total = p.mean + r.mean
    return np.where(total == 0, 0.0, ratio(2 * p.mean * r.mean, total))


MEASURE = Measure(
    title="F1 of means",
    formula="F1 = 2 · macro P · macro R / (macro P + macro R)",
    undefined_case="macro P or macro R is undefined",
    aggregates=("macro",),
    from_measures=_derive_score,
    source_measures=("macro.p", "macro.r"),
    from_moments=_harmonic_mean,
    note="The BAT paper defines macro F1 this way; most tools print the mean of F1, which is `macro.f1`.",
)
