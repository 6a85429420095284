"""Standard deviations of precision, recall and F1 over documents."""

import math

import numpy as np

from karat.model.results.result import Score
from karat.model.spec.measure import Measure, MeasureLookup


def _make_measure(name: str, title: str, symbol: str) -> Measure:
    """Return the standard deviation of the measure `name`, whose title and symbol are given."""
    source = f"macro.{name}"

    def derive_score(view: MeasureLookup) -> Score:
        """Return the standard deviation over the documents in which the measure is defined; undefined without any."""
        mean = view.score(source)
        if mean.value is None:
            return mean
        values = view.document_values(source)
        squares = (values[~np.isnan(values)] - mean.value) ** 2
        return Score(math.sqrt(math.fsum(squares.tolist()) / mean.n), mean.n)

    return Measure(
        title=f"{title[0].upper()}{title[1:]}, standard deviation",
        formula=f"SD = √(mean over documents of ({symbol} − macro {symbol})²)",
        undefined_case=f"{title} is undefined in every document",
        aggregates=("macro",),
        from_measures=derive_score,
        source_measures=(source,),
        from_moments=lambda values: values.standard_deviation,
        is_dispersion=True,
        note="The deviation covers the documents in which the measure is defined, and divides by their number.",
    )


TABLE = {
    "f1-sd": _make_measure("f1", "F1", "F1"),
    "p-sd": _make_measure("p", "precision", "P"),
    "r-sd": _make_measure("r", "recall", "R"),
}
