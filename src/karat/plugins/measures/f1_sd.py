"""Standard deviation of F1 over documents."""

import math

import numpy as np

from karat.model.results.result import Score
from karat.model.spec.measure import Measure, MeasureLookup


def _derive_score(view: MeasureLookup) -> Score:
    """Return the standard deviation of F1 over the documents in which it is defined; undefined without any."""
    mean = view.score("macro.f1")
    if mean.value is None:
        return mean
    values = view.document_values("macro.f1")
    squares = (values[~np.isnan(values)] - mean.value) ** 2
    return Score(math.sqrt(math.fsum(squares.tolist()) / mean.n), mean.n)


MEASURE = Measure(
    title="F1, standard deviation",
    formula="SD = √(mean over documents of (F1 − macro F1)²)",
    undefined_case="F1 is undefined in every document",
    aggregates=("macro",),
    from_measures=_derive_score,
    source_measures=("macro.f1",),
    from_moments=lambda values: values.standard_deviation,
    is_dispersion=True,
    note="The deviation covers the documents in which the measure is defined, and divides by their number.",
)
