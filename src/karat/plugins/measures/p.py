"""Precision: the share of predictions that are correct."""

from karat.model.results.statistics import Statistics, ratio
from karat.model.spec.measure import Measure
from karat.model.spec.settings.empty import Empty, fill_empty_cases
from karat.model.tables.columns import Floats


def _share_counts(s: Statistics, _: Statistics) -> tuple[Floats, Floats]:
    """Return the matched and all predictions of each row, numerator and denominator."""
    return s.matched_predictions, s.predictions


def _compute_values(s: Statistics, empty: Empty) -> Floats:
    """Return precision of each row, with the values of `empty` where gold mentions or predictions are missing."""
    return fill_empty_cases(ratio(*_share_counts(s, s)), s, [case.p for case in empty])


MEASURE = Measure(
    title="Precision",
    formula="P = matched predictions / predictions = tp / (tp + fp)",
    undefined_case="there are no predictions",
    aggregates=("micro", "macro"),
    from_statistics=_compute_values,
    share_counts=_share_counts,
)
