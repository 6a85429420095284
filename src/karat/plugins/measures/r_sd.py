"""Standard deviation of recall over documents."""

import math

import numpy as np

from karat.model.results.result import Score
from karat.model.spec.measure import Measure, MeasureLookup


def _derive_score(view: MeasureLookup) -> Score:
    """Return the standard deviation of recall over the documents in which it is defined; undefined without any."""
    mean = view.score("macro.r")
    if mean.value is None:
        return mean
    values = view.document_values("macro.r")
    squares = (values[~np.isnan(values)] - mean.value) ** 2
    return Score(math.sqrt(math.fsum(squares.tolist()) / mean.n), mean.n)


MEASURE = Measure(
    title="Recall, standard deviation",
    formula="SD = √(mean over documents of (R − macro R)²)",
    undefined_case="recall is undefined in every document",
    aggregates=("macro",),
    from_measures=_derive_score,
    source_measures=("macro.r",),
    from_moments=lambda values: values.standard_deviation,
    is_dispersion=True,
    note="The deviation covers the documents in which the measure is defined, and divides by their number.",
)
