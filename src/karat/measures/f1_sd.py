"""F1: its standard deviation over documents."""

import math

import numpy as np

from karat.model.result import Scored
from karat.spec.measure import Lookup, Measure


def _derive(view: Lookup) -> Scored:
    mean = view.score("macro.f1")
    if mean.value is None:
        return mean
    values = view.per_document("macro.f1")
    squares = (values[~np.isnan(values)] - mean.value) ** 2
    return Scored(math.sqrt(math.fsum(squares.tolist()) / mean.n), mean.n)


MEASURE = Measure(
    title="F1, standard deviation",
    formula="SD = √(mean over documents of (F1 − macro F1)²)",
    undefined="in every document f1 is undefined",
    aggregates=("macro",),
    derive=_derive,
    means=("macro.f1",),
    of_means=lambda values: values.deviation,
    spread=True,
    note="Over the documents in which the measure is defined, divided by their number.",
)
