"""Precision: its standard deviation over documents."""

import math

import numpy as np

from karat.model.result import Scored
from karat.spec.measure import Lookup, Measure


def _derive(view: Lookup) -> Scored:
    mean = view.score("macro.p")
    if mean.value is None:
        return mean
    values = view.per_document("macro.p")
    squares = (values[~np.isnan(values)] - mean.value) ** 2
    return Scored(math.sqrt(math.fsum(squares.tolist()) / mean.n), mean.n)


MEASURE = Measure(
    title="Precision, standard deviation",
    formula="SD = √(mean over documents of (P − macro P)²)",
    undefined="in every document p is undefined",
    aggregates=("macro",),
    derive=_derive,
    means=("macro.p",),
    of_means=lambda values: values.deviation,
    spread=True,
    note="Over the documents in which the measure is defined, divided by their number.",
)
